// SPDX-License-Identifier: GPL-2.0-or-later
// GAPP's criticality metric: running time, weighted by the inverse of how many threads were active.
//
// An interval between two switches that is T long, with n active threads, counts T / n for each thread that
// runs in it (Davies-Lyons, "Leveraging Linux kernel tracing to classify and detail application bottlenecks",
// 2019, section 2.4.4). A thread is active while it is running or runnable: GAPP counts the threads that are
// not blocked, and credits a thread between its switch in and its switch out. So a thread that runs alone
// while the others wait is critical, one that runs among many is not, and the part of an interval that would
// fall to runnable threads is nobody's.
//
// GAPP counts only the slices in which fewer threads are active than a threshold. Here all count: the weight
// does the same without one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// Only threads of the target are active and have a criticality. All sums are in ns, as the metric is a part
/// of a time.
struct Criticality {
  /// Sums over one thread.
  struct Thread {
    double critical_ns = 0;
    double preempted_ns =
        0;  ///< part of critical_ns: slices that no wait ended, but a preemption or the exit
    Nanos running_ns = 0;
    Nanos runnable_ns = 0;
  };
  std::vector<Thread> threads;  ///< by ActorId; zeros for what is no thread of the target
  /// By SiteId: of slices that ended in a wait there. GAPP reports the stack that a slice ends in.
  std::vector<double> ended_by;
  /// Slices that ended in waits for one file, or something else that is stored.
  struct ForFile {
    double critical_ns = 0;  ///< part of ended_by
    std::uint64_t slices = 0;
  };
  std::map<std::pair<SiteId, ObjectId>, ForFile> ended_for;
  /// By index into Trace::cpu_samples: of slices that no wait ended, and in which this sample was the last.
  /// It is as near to their end as is known.
  std::vector<double> ended_near;
  /// By SiteId: of the thread that ended a wait there, since its slice began or, if that was later, since it
  /// last ended a wait. What a thread does while others stand in line for it counts so for the place where it
  /// lets them go.
  std::vector<double> woken_from;
  /// By index into Trace::cpu_samples: 1 / the number of threads that were active then, and 0 for samples of
  /// threads outside of the target and for busy waiting (WaitClass::spin), which is a wait.
  std::vector<float> samples;
  double total_ns = 0;     ///< of all threads
  Nanos some_active = 0;   ///< how long at least one thread was active
  double mean_active = 0;  ///< how many were active in that time, on average
};

/// O((waits + preemptions) × log threads + samples × log samples). The trace must satisfy validate().
Criticality criticality_of(const Trace& trace);

}  // namespace offwait
