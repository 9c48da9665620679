// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that work queues for: what more of them would gain.
#pragma once

#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/occupied.h"
#include "replay/scenario.h"

namespace offwait {

/// A group that has more to do than its threads do at a time. Either threads of other groups show it: twice
/// as many of them wait for the group as it has threads at work. Or requests do: its threads hardly ever wait
/// for something to do, and as many requests are unread as it has threads. A thread with several requests
/// under way, an event loop, counts as that many waiting threads.
struct Pool {
  GroupId group = kNoGroup;
  /// That it has, on average; of a service that the target asks, those that were not idle: how many requests
  /// it gets at a time.
  double threads = 0;
  double waiting = 0;     ///< how many threads, or requests, wait for it at a time, on average
  bool requests = false;  ///< what waits are requests
};

/// The groups that work queues for, the one that most wait for first; `most` at most.
std::vector<Pool> pools_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                           const Uses& uses, const Occupied& occupied, std::size_t most);

/// What a change of Resource::threads stands for: N times as many threads do all that the group does at the
/// same time, so that each takes an N-th of the time for as many things (Change::shared). That is a bound:
/// they may need each other's locks. So is a service that the group asks, if some of its threads are idle
/// some of the time. Where the CPUs are short, threads that compute do not do it sooner.
Scenario shared_by_more_threads(const Change& change, const Trace& trace, const ThreadGroups& groups,
                                const WaitKinds& kinds, const Uses& uses, const Occupied& occupied,
                                bool cpus_short);

/// What more threads of a group would gain, at most.
struct MoreThreads : Pool {
  double gain = 0;
  bool of_service = false;  ///< of the service that the answer is about
};

}  // namespace offwait
