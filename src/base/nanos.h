// SPDX-License-Identifier: GPL-2.0-or-later
// Time. Every time in offwait is CLOCK_MONOTONIC in integer nanoseconds; every duration is a
// difference of two of them. Seconds (double) exist only at the edge, in reports.
#pragma once

#include <cstdint>
#include <limits>

namespace offwait {

using Nanos = std::int64_t;

/// The end of something that has not ended: an open wait, a thread that is still alive.
inline constexpr Nanos kNever = std::numeric_limits<Nanos>::max();

inline constexpr Nanos kSecond = 1'000'000'000;

constexpr double to_seconds(Nanos ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace offwait
