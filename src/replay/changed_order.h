// SPDX-License-Identifier: GPL-2.0-or-later
// Where a change alters what comes first. The replay keeps the recorded order, and says too much or too
// little.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/progress.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/scenario.h"
#include "replay/shared_requests.h"
#include "replay/waits_for_sleepers.h"

namespace offwait {

class ChangedOrder {
 public:
  /// `uses` and `sleepers` outlive it.
  ChangedOrder(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
               const WaitsForSleepers& sleepers);

  /// What a scenario gains at least, if that may be less than what the replay says; nothing if the order of
  /// things does not matter to it.
  /// - A thread that goes on while its next request is under way at the disk waits the longer for that one
  ///   the sooner it comes back. If nothing makes the disk faster, that may take all of a gain.
  /// - A thread that sleeps when it finds nothing to do sleeps the more often the sooner it is done. That may
  ///   take all of a gain of its own and of those that wait for it, unless it is its sleeps that change, or
  ///   those of a function.
  /// - Clients that send requests at times of their own (timed_clients_of()) may send no more of them, unless
  ///   it is their delays that change, or those of a function.
  /// - A thread that serves several requests at once, and not always as many, serves fewer of them at once
  ///   the sooner it is back from what it waits for each time, a time or a remote service. That may take all
  ///   of a gain.
  /// - A request to a disk for several threads, as in a group commit, is for fewer of them the sooner it is
  ///   done (SharedRequests).
  std::optional<double> least_gain(const Progress& progress, const Scenario& scenario) const;

  /// What shorter sleeps of a group gain at most for those groups of the progress whose threads wait for its
  /// hand-overs for more than a tenth of their lives: it wakes up to find nothing where these have not asked
  /// yet. Other waits of these threads may be for that group, too. Nothing if the scenario changes anything
  /// else, or if a part of the progress has no such group.
  std::optional<double> most_gain(const Progress& progress, const Scenario& scenario) const;

  /// Whether the progress waits for much of its time for threads that serve several requests at once, and not
  /// always as many. They serve more of them at once if these come sooner, and the replay does not show that.
  bool serves_in_batches(const Progress& progress) const;

  /// Whether a group of the progress and another one both wait for much of their time for locks that the
  /// other one holds. Which of them gets such a lock, and how often, alters with how soon each of them comes.
  /// While a holder waits for a lock itself, those behind it wait for those that it waits for.
  bool compete(const Progress& progress) const;

 private:
  void find_waits_for_locks(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  void find_waits_for_any(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  void find_idle_sleepers(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  void find_batches(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  bool alters_what_batches_wait_for(const Scenario& scenario) const;
  bool has_timed_clients(GroupId group, const Scenario& scenario) const;
  bool asks_an_idle_sleeper(GroupId group, const Scenario& scenario) const;

  const Uses& uses_;
  const WaitsForSleepers& sleepers_;
  std::vector<std::set<GroupId>> timed_clients_;  ///< timed_clients_of()
  std::vector<Nanos> for_any_;  ///< by GroupId: waits for disks that ended with more requests under way
  /// Waits of the one for locks that the other one holds, and for which that one itself waits for none.
  std::map<std::pair<GroupId, GroupId>, Nanos> behind_;
  /// By GroupId: groups whose threads sleep only while no other thread waits for them, of these the group
  /// itself and those that it waits for.
  std::vector<std::vector<GroupId>> idle_sleepers_;
  std::set<GroupId> in_batches_;         ///< groups that wait for threads that serve in batches
  std::set<GroupId> batches_by_time_;    ///< those threads' groups, if they wait for a time before each batch
  std::set<GroupId> batches_by_remote_;  ///< and if they wait for a remote service
  std::set<ServiceId> services_of_batches_;
  SharedRequests shared_requests_;
};

}  // namespace offwait
