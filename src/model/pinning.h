// SPDX-License-Identifier: GPL-2.0-or-later
// Whether threads of the target lack CPUs because they may not use all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/nanos.h"
#include "model/cpus.h"
#include "model/trace.h"

namespace offwait {

/// CPUs that are busy for this part of the window are taken, so a lack of CPUs needs no other explanation.
inline constexpr double kMachineBusy = 0.8;

/// Threads of the target that may use some of the CPUs only, and the same ones.
struct PinnedThreads {
  CpuList allowed;
  std::uint32_t allowed_cpus = 0;  ///< how many of them are online
  std::uint32_t online_cpus = 0;   ///< of the machine
  std::uint32_t threads = 0;
  Nanos runnable_ns = 0;    ///< how long they were ready to run without a CPU
  double allowed_busy = 0;  ///< how busy the allowed CPUs were, 0 to 1, whichever program used them
  double others_busy = 0;   ///< how busy the CPUs were that they may not use

  /// Their CPUs are busy, and the others are not.
  bool are_kept_out() const { return allowed_busy >= kMachineBusy && others_busy < kMachineBusy; }
};

struct Pinning {
  std::optional<PinnedThreads> most;  ///< those that were ready to run for longest; nothing if none is pinned
  /// Threads that are kept out were ready to run for half of the time for which all of the target were.
  bool explains = false;
};

/// `runnable_ns`, by ActorId: how long the thread was ready to run without a CPU.
Pinning pinning_of(const Trace& trace, const std::vector<Nanos>& runnable_ns);

}  // namespace offwait
