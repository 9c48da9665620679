// SPDX-License-Identifier: GPL-2.0-or-later
// Which CPUs threads may run on, where not all of them may run on all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/cpus.h"
#include "replay/usable_cpus.h"

namespace offwait {

using CpuSetId = std::uint32_t;
/// All CPUs that the recorded threads share.
inline constexpr CpuSetId kAllCpus = 0;

struct CpuSets {
  std::vector<double> cpus;  ///< by CpuSetId: how many CPUs there are in it
  /// By CpuSetId: the sets that all of its CPUs are in, itself included. What runs in it runs in these.
  std::vector<std::vector<CpuSetId>> within;
  std::vector<CpuSetId> of;  ///< by the number of what runs: the set in which it may run
};

/// `allowed`, by the number of what runs: the CPUs on which it may; empty: all. `online` are the machine's
/// CPUs, and `all` is the number of those that recorded threads share. There is one set, kAllCpus, if nothing
/// is pinned, if it is not known which CPUs are online, or if there are more than 64 different sets.
CpuSets cpu_sets(const std::vector<CpuList>& allowed, const std::vector<CpuTime>& online, double all);

/// By CpuSetId: how many CPUs the set has if there are 1 ÷ `factor` times as many. If the target lacks CPUs
/// because it is pinned (UsableCpus::pinned_to), pinned threads may use others of the machine, which has no
/// more CPUs than before, unless the target is to have even more. Else the machine has so many times as many.
std::vector<double> cpus_of_sets(const CpuSets& sets, const UsableCpus& usable, double factor);

}  // namespace offwait
