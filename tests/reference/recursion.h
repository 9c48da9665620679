// SPDX-License-Identifier: GPL-2.0-or-later
// The recursion of Figure 4 of wPerf (OSDI '18) as it is printed there, and a thread's states as sums of
// overlaps. This is slow and obvious; src/graph/sweep has to give the same results to the nanosecond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait::reference {

struct Cascade {
  std::vector<Nanos> weight_ns;  ///< parallel to Trace::sites
  std::size_t depth = 0;         ///< deepest recursion: threads in the longest chain of waits
};

/// Runs cascade(w) for each wait w of the trace, clipped to the window and to the life of w's thread. Does
/// not return for a trace that cannot have happened.
Cascade cascade(const Trace& trace);

/// How much of [from, to) a thread spent in each state. `unknown` includes the time before its birth and
/// after its exit.
struct States {
  Nanos running_ns = 0;
  Nanos runnable_ns = 0;
  Nanos blocked_ns = 0;
  Nanos unknown_ns = 0;
};
States states(const Trace& trace, ActorId thread, Nanos from, Nanos to);

/// The sums over the waits of one site.
struct SiteTotals {
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  States waker;  ///< all 0 if the waker is no thread
};
std::vector<SiteTotals> site_totals(const Trace& trace);

/// Counts the CPU samples of `ran` with this stack that were taken while threads of `waited` were in waits
/// that the sampled thread ended.
struct SampleCounts {
  std::uint64_t samples = 0;
  std::uint64_t waiting = 0;  ///< a sample counts once for each thread that waited
};
SampleCounts samples_meanwhile(const Trace& trace, const std::vector<ActorId>& waited,
                               const std::vector<ActorId>& ran, StackId stack);

/// The length of the wait in which `thread` is when the window (or its life) ends; 0 if it is in none.
Nanos open_wait(const Trace& trace, ActorId thread);

}  // namespace offwait::reference
