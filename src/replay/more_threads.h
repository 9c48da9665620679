// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that others queue for: what more of them would gain.
#pragma once

#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/scenario.h"

namespace offwait {

/// A group of the target that does one thing at a time for each of its threads, while more threads than it
/// has wait for it.
struct Pool {
  GroupId group = kNoGroup;
  double threads = 0;  ///< that it has, on average
  /// Threads of other groups that waited for one of its threads, on average, without waits for locks; at
  /// least twice as many as it has. With more threads than these some would have nothing to do.
  double waiting = 0;
};

/// The groups that others queue for, the one that most wait for first; `most` at most.
std::vector<Pool> pools_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                           const Uses& uses, std::size_t most);

/// What a change of Resource::threads stands for: N times as many threads do all that the group does at the
/// same time, so that each takes an N-th of the time for as many things (Change::shared). That is a bound:
/// they may need each other's locks. Where the CPUs are short, threads that compute do not do it sooner.
Scenario shared_by_more_threads(const Change& change, const Uses& uses, bool cpus_short);

/// What more threads of a group would gain, at most.
struct MoreThreads : Pool {
  double gain = 0;
};

}  // namespace offwait
