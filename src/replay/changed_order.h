// SPDX-License-Identifier: GPL-2.0-or-later
// Where a change alters what comes first. The replay keeps the recorded order, and says too much or too
// little.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/progress.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/scenario.h"

namespace offwait {

class ChangedOrder {
 public:
  /// `uses` outlives it.
  ChangedOrder(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses);

  /// What a scenario gains at least, if that may be less than what the replay says; nothing if the order of
  /// things does not matter to it.
  /// - A thread that goes on while its next request is under way at the disk waits the longer for that one
  ///   the sooner it comes back. If nothing makes the disk faster, that may take all of a gain.
  /// - A thread that sleeps when it finds nothing to do sleeps the more often the sooner it is done. That may
  ///   take all of a gain of its own and of those that wait for it, unless it is its sleeps that change, or
  ///   those of a function.
  /// - A request to a disk for several threads, as in a group commit, is for fewer of them the sooner it is
  ///   done, down to one for each.
  std::optional<double> least_gain(const Progress& progress, const Scenario& scenario) const;

  /// Whether a group of the progress and another one both wait for much of their time for locks that the
  /// other one holds. Which of them gets such a lock, and how often, alters with how soon each of them comes.
  /// While a holder waits for a lock itself, those behind it wait for those that it waits for.
  bool compete(const Progress& progress) const;

 private:
  void find_waits_for_locks(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  void find_waits_for_any(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  void find_shared_requests(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  void find_idle_sleepers(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);
  bool asks_an_idle_sleeper(GroupId group, const Scenario& scenario) const;

  const Uses& uses_;
  std::vector<Nanos> for_any_;  ///< by GroupId: waits for disks that ended with more requests under way
  /// Waits of the one for locks that the other one holds, and for which that one itself waits for none.
  std::map<std::pair<GroupId, GroupId>, Nanos> behind_;
  /// By GroupId: groups whose threads sleep only while no other thread waits for them, of these the group
  /// itself and those that it waits for.
  std::vector<std::vector<GroupId>> idle_sleepers_;
  std::vector<double> threads_for_;  ///< by ActorId: of a disk, the threads that go on after each wait for it
};

}  // namespace offwait
