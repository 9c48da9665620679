// SPDX-License-Identifier: GPL-2.0-or-later
// Deadlocks: threads that wait for each other's mutexes.
#pragma once

#include <cstdint>
#include <vector>

namespace offwait {

inline constexpr std::uint32_t kHoldsNothing = UINT32_MAX;

/// `holder[i]` is the waiting thread that holds the mutex that thread i waits for: an index into `holder` (i
/// itself is possible), or kHoldsNothing if no waiting thread holds it. Returns the circles in order of their
/// smallest thread; each begins with that thread and continues in order of waiting. Threads that only lead
/// into a circle are in none. Takes O(threads) time.
std::vector<std::vector<std::uint32_t>> deadlocks(const std::vector<std::uint32_t>& holder);

}  // namespace offwait
