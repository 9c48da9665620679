// SPDX-License-Identifier: GPL-2.0-or-later
// How many CPUs the recorded threads could use, and how much of them they used.
#pragma once

#include "model/trace.h"

namespace offwait {

struct UsableCpus {
  double cpus = 0;  ///< at most Recording::cpus; 0: not known how many there are
  /// The part of them that the recorded threads ran on, 0 to 1; or how busy the CPUs were to which the target
  /// is pinned, if that is more.
  double busy = 0;
  /// While threads queued, the part of each CPU's time that the recorded threads ran, above 0 to 1. Switches
  /// between threads, others and the hypervisor take the rest.
  double part = 1;

  /// Whether a thread that needs less CPU time also queues less for a CPU.
  bool are_short() const { return busy >= 0.85; }
};

/// While a thread is ready to run and does not, all CPUs that it may use are taken: by recorded threads, so
/// many of them run, or by others. So the mean number that run in such times is the number they can use,
/// whatever keeps them from the rest: pinning, a quota, other programs, the hypervisor. A thread that runs
/// within 50 us of its wake-up did not queue. They can use no fewer than ran at once for 5 % of the window:
/// in short queues a thread may wait for one CPU while another one is free. They can use what they ran on and
/// what was idle of the CPUs that they may use, unless a quota was used up: on virtual machines an idle CPU
/// may take longer than 50 us to wake up. Where threads queued for less than 2 % of the window, they can use
/// all CPUs.
UsableCpus usable_cpus(const Trace& trace);

}  // namespace offwait
