// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ctime>

#include "base/nanos.h"

namespace offwait {

/// The clock of every time in offwait (bpf_ktime_get_ns).
inline Nanos monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Nanos{now.tv_sec} * kSecond + now.tv_nsec;
}

/// The CPU time that the calling thread has used.
inline Nanos thread_cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return Nanos{used.tv_sec} * kSecond + used.tv_nsec;
}

}  // namespace offwait
