// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that wait for mutexes which they hold among themselves.
#pragma once

#include <cstdint>
#include <vector>

namespace offwait {

inline constexpr std::uint32_t kHoldsNothing = UINT32_MAX;

/// `holder[i]` is the waiting thread that holds what thread i waits for: an index into `holder`, i itself, or
/// kHoldsNothing if nobody who waits holds it. Returns the circles, each from its smallest thread on in order
/// of waiting; circles in order of their smallest thread. Threads that only lead into a circle are in none.
/// O(threads).
std::vector<std::vector<std::uint32_t>> deadlocks(const std::vector<std::uint32_t>& holder);

}  // namespace offwait
