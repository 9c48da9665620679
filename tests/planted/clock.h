// SPDX-License-Identifier: GPL-2.0-or-later
// Clocks, and two ways to let time pass. All times are nanoseconds.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

inline constexpr std::int64_t kNsPerUs = 1000;
inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerS = 1'000'000'000;

inline std::int64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * kNsPerS + t.tv_nsec;
}

inline void sleep_ns(std::int64_t ns) {
  timespec left{.tv_sec = ns / kNsPerS, .tv_nsec = ns % kNsPerS};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

inline void use_cpu(std::int64_t ns) {
  const std::int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}
