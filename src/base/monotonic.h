// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ctime>
#include <string_view>

#include <sys/resource.h>

#include "base/nanos.h"

namespace offwait {

inline Nanos read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return Nanos{now.tv_sec} * kSecond + now.tv_nsec;
}

/// The clock of every time in offwait (bpf_ktime_get_ns). In a time namespace CLOCK_MONOTONIC has an offset
/// to it, which is taken off.
Nanos monotonic_now();

/// That offset, as a file /proc/PID/timens_offsets has it.
Nanos monotonic_offset(std::string_view offsets);

/// The CPU time that the calling thread has used.
inline Nanos thread_cpu_time() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

/// The CPU time of both kinds.
inline Nanos cpu_time_of(const rusage& used) {
  constexpr Nanos kMicrosecond = 1000;
  return Nanos{used.ru_utime.tv_sec + used.ru_stime.tv_sec} * kSecond +
         Nanos{used.ru_utime.tv_usec + used.ru_stime.tv_usec} * kMicrosecond;
}

/// The CPU time that this process (RUSAGE_SELF) has used, or those of its children that were waited for
/// (RUSAGE_CHILDREN).
inline Nanos process_cpu_time(decltype(RUSAGE_SELF) who) {
  rusage used{};
  return ::getrusage(who, &used) == 0 ? cpu_time_of(used) : 0;
}

}  // namespace offwait
