// SPDX-License-Identifier: GPL-2.0-or-later
// How many CPUs the recorded threads could use, and how much of them they used.
#pragma once

#include <algorithm>
#include <cmath>

#include "model/histories.h"
#include "model/trace.h"

namespace offwait {

struct UsableCpus {
  double cpus = 0;  ///< at most Recording::cpus; 0: not known how many there are
  /// The part of what they could use that the recorded threads ran, 0 to 1; or how busy the CPUs were to
  /// which the target is pinned, if that is more.
  double busy = 0;
  /// The part of each CPU's time that they could use, above 0 to 1: switches between threads, others and the
  /// hypervisor take the rest.
  double part = 1;
  double queued = 0;  ///< the part of the window in which threads queued for a CPU, 0 to 1
  /// The CPUs that the recorded threads and other programs share, without those to which threads are pinned
  /// (cpu_sets()); 0: not known, or a quota limits the recorded threads as well, or other programs run on the
  /// CPUs of a pinned target.
  double shared = 0;
  /// To how many CPUs the target is pinned if that explains why it lacks CPUs (Pinning::explains); else 0.
  double pinned_to = 0;
  double quota = 0;   ///< CPUs that a quota gives which was used up and is less than there are; else 0
  double online = 0;  ///< with pinned_to or quota: how many CPUs the machine has
  double others = 0;  ///< how many of `shared` other programs ran on, on average
  double stolen = 0;  ///< the part of the time of `shared` that the hypervisor took, 0 to below 1

  /// The CPU time that the recorded threads could use in a second, in seconds.
  double usable() const { return part * std::max(1.0, std::round(cpus)); }
  /// Whether a thread that needs less CPU time also queues less for a CPU.
  bool are_short() const { return busy >= kShort || queued >= 0.5; }
  bool queue() const { return queued >= kQueues; }
  /// Threads that queue for this part of the window, or longer, do not find all CPUs free.
  static constexpr double kQueues = 0.02;
  /// CPUs that are as busy as this are short.
  static constexpr double kShort = 0.85;
  /// How many CPUs the recorded threads would have if the other programs made way.
  double at_most() const { return std::max(1.0, std::round(shared > 0 ? shared : cpus)); }
};

/// While a thread is ready to run and does not, all CPUs that it may use are taken: by recorded threads, so
/// many of them run, or by others. So the mean number that run in such times is the number they can use,
/// whatever keeps them from the rest: pinning, a quota, other programs, the hypervisor. A thread that runs
/// within 50 us of its wake-up did not queue. They can also use what they ran on and what was idle of the
/// CPUs that they may use, unless a quota was used up: in short queues a thread may wait for one CPU while
/// another one is free, and on virtual machines an idle CPU may take longer than 50 us to wake up. If more
/// ran at once for 5 % of the window, there are as many CPUs, and they could use a part of each. Where
/// threads queued for less than 2 % of the window, they can use all CPUs. Of very many waits those in some
/// parts of the window tell.
UsableCpus usable_cpus(const Trace& trace, const Histories& histories);

}  // namespace offwait
