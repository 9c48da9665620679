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

/// What was read again is that of the target's cgroup (Trace::memory): of those without another one below
/// them, the one in which most was. The limit is its own if that was reached, else that of the nearest one
/// above it that was reached, else the machine's. Nothing if the recording does not say, or if nothing was
/// read again.
std::optional<FoundMemory> find_memory(const Trace& trace);

}  // namespace offwait
