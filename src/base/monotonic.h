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

}  // namespace offwait
