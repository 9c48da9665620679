// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ctime>

#include "base/nanos.h"

namespace offwait {

inline Nanos read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return Nanos{now.tv_sec} * kSecond + now.tv_nsec;
}

/// The clock of every time in offwait (bpf_ktime_get_ns).
inline Nanos monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

/// The CPU time that the calling thread has used.
inline Nanos thread_cpu_time() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace offwait
