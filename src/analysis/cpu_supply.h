// SPDX-License-Identifier: GPL-2.0-or-later
// What took the CPUs from threads of the target that were ready to run: a CPU quota, pinning, the hypervisor,
// the target itself, or others.
#pragma once

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "model/pinning.h"

namespace offwait {

/// Threads that are ready to run for less than this part of the window, all together, do not lack CPUs.
inline constexpr double kHardlyRunnable = 0.01;

/// The time of the machine's CPUs in the window.
struct MachineTime {
  Nanos busy_ns = 0;
  Nanos idle_ns = 0;
};
/// Recording::cpu_busy_ns and cpu_idle_ns, which the kernel counts more coarsely than it switches threads:
/// the CPUs were busy at least while recorded threads ran. Both 0 if they are not known.
MachineTime machine_time(const Prepared& prepared);

/// `target` is Totals::target. The causes are tried in this order; the first one that holds is taken:
/// - none: the threads are hardly ready to run without a CPU;
/// - quota: a quota was used up, and throttled for 1 % of the window and a tenth of the runnable time;
/// - pinning: threads that may not use all CPUs have half of the runnable time, and the CPUs that they may
///   use are busy (kMachineBusy), while the others are not;
/// - none: the threads are ready to run for less than a tenth of the time in which they run or are ready to;
/// - unknown: nobody knows how busy the CPUs were;
/// - steal, own, others: the CPUs are busy, and this one has the largest part. Steal that is less than a
///   quarter of what the target used is not the cause;
/// - bursts: none of these.
CpuSupply find_cpu_supply(const Prepared& prepared, const StateSeconds& target);

}  // namespace offwait
