// SPDX-License-Identifier: GPL-2.0-or-later
// Busy waiting as waits (wPerf §3.2, §4.1). To the kernel a spinning thread runs; to us it waits.
#pragma once

#include <functional>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// A thread was busy waiting in [begin, end), until `waker` let go.
struct Spin {
  ActorId thread = kNoActor;
  ActorId waker = kNoActor;  ///< kNoActor: not known
  Nanos begin = 0;
  Nanos end = 0;
  StackId stack = kNoStack;
};

/// Lays spins over what the kernel recorded of their threads, as waits of class `spin` [begin, end), so that
/// no two intervals of a thread overlap. The thread got nowhere meanwhile, so whatever else it did is part of
/// the wait: running, and its preemptions and real waits (sched_yield and sleeps between two looks). But
/// - a real wait or preemption that reaches past `end` goes on: that wait begins with the spin and ends as it
///   does, after that preemption the thread is runnable from `end` on;
/// - a thread that woke another was not waiting then: the spin begins after its last such waking;
/// - who was blocked, or busy waiting itself, at `end` has let go before: the spin ends when that began;
/// - a spin during which records of its thread were lost, or that is empty after all this, is left out.
/// The spins of one thread are disjoint; `site` interns.
void lay_spins(Trace& trace, std::vector<Spin> spins, const std::function<SiteId(const WaitSite&)>& site);

}  // namespace offwait
