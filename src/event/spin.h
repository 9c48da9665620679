// SPDX-License-Identifier: GPL-2.0-or-later
// Busy waiting as waits (wPerf §3.2, §4.1). The kernel sees a spinning thread run; the trace has it wait. The
// waits have a class of their own, so that a reader does not look for a lock in the kernel.
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

/// Adds the spins to the trace as waits [begin, end) of class `spin`. The thread makes no progress in a spin,
/// so whatever else the kernel recorded of it there becomes part of the wait: running time, preemptions, and
/// short waits (sched_yield, sleeps between two looks at the lock). No two intervals of a thread overlap
/// afterwards. But
/// - a wait or preemption that reaches past `end` goes on: such a wait begins with the spin and ends as it
///   does, and after such a preemption the thread is runnable from `end` on;
/// - a thread that woke another was not waiting then: its spin begins after its last such waking;
/// - a waker that was blocked or spinning itself at `end` had let go before: the spin ends when that began;
/// - a spin during which records of its thread were lost, or that is empty after all this, is left out.
/// The spins of one thread must be disjoint; `site` gives the id of a site.
void overlay_spins(Trace& trace, std::vector<Spin> spins, const std::function<SiteId(const WaitSite&)>& site);

}  // namespace offwait
