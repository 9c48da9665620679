// SPDX-License-Identifier: GPL-2.0-or-later
// What the target read from disks although it had been in memory before, and whose limit it was that dropped
// it.
#pragma once

#include <optional>

#include "analysis/findings.h"
#include "model/trace.h"

namespace offwait {

// What was read again is said in every report of a target that waits for disks for this part of the window,
// all threads together, if it is this part of what the target read.
inline constexpr double kMuchWaitedForDisks = 0.01;
inline constexpr double kMostlyReadAgain = 0.5;

/// What was read again is the sum over the cgroups of the target's processes (Trace::memory) or, where the
/// target is in none that counts it, what all programs of the machine read again. The limit is of the cgroup
/// in which most was: the nearest one that was reached, its own or above it, or one below it in which most
/// was; else the machine's. Nothing if the recording does not say, or if nothing was read again.
std::optional<FoundMemory> find_memory(const Trace& trace);

}  // namespace offwait
