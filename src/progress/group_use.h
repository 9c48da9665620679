// SPDX-License-Identifier: GPL-2.0-or-later
// What each group of threads did in the window, summed up, and how the groups depend on each other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// Sums over a group's threads; waits are clipped to the window.
struct GroupUse {
  Nanos lifetime_ns = 0;
  Nanos running_ns = 0;
  Nanos runnable_ns = 0;
  Nanos timer_ns = 0;   ///< in waits that a timer ended
  Nanos remote_ns = 0;  ///< in waits for remote services
  /// In waits for other groups that count as lock waits though no function's name says so. In waits for its
  /// own group it makes no difference to the replay.
  Nanos guessed_ns = 0;
  std::map<ActorId, Nanos> disk_ns;  ///< in waits for each disk, by itself or by threads below
  /// In waits of kind `paused`, without SiteUse::served_ns: by paused_above().
  std::map<ActorId, Nanos> paused_ns;
  std::uint64_t waits_ended = 0;  ///< waits of the group, without those that a timer ended
  /// Given to and taken from other threads: locks, births and throttled sleeps, too.
  std::uint64_t handovers = 0;
  std::uint64_t received = 0;  ///< taken from threads of other groups, but no locks
  std::uint64_t timers = 0;    ///< waits that a timer ended
  std::uint64_t units = 0;  ///< pieces of work that show: waits_ended, and what it gave to others by queues
  Nanos work_ns() const;    ///< running, or in waits for disks
};

/// Sums over the waits of one site, clipped to the window.
struct SiteUse {
  Nanos wait_ns = 0;
  std::uint64_t ended = 0;  ///< waits that ended in the window
  Nanos served_ns = 0;      ///< of WaitKind::paused: the part in which a disk had requests under way
};

/// How often threads of two groups ended waits of each other, or made each other.
struct Handovers {
  /// WaitKind::handover and throttled, and births of threads that do one piece of work each.
  std::uint64_t queue = 0;
  std::uint64_t lock = 0;
};

struct Uses {
  std::vector<GroupUse> groups;  ///< by GroupId
  /// By ActorId: how much of what its group does each thread stands for. It is the number of waits that the
  /// thread had or ended for others, without those that a timer ended and those after which it only looked
  /// for something. A thread without any has a small weight.
  std::vector<double> thread_weights;
  std::vector<SiteUse> sites;                                  ///< by SiteId
  std::map<std::pair<GroupId, GroupId>, Handovers> handovers;  ///< both ways; the smaller id comes first
};

/// Whether the part is more than a tenth of the whole. A smaller part of a group's time does not decide how
/// fast the group is.
bool is_much(Nanos part_ns, Nanos of_ns);
bool is_much(double part, double of);

/// The time for which all groups ran.
Nanos running_of_all(const Uses& uses);

Uses uses_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);

}  // namespace offwait
