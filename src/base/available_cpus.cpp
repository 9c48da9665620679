// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/available_cpus.h"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace offwait {

std::size_t available_cpus() {
  const std::size_t online = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t allowed;
  // It fails where there may be more CPUs than the set holds.
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return online;
  return std::clamp<std::size_t>(static_cast<std::size_t>(CPU_COUNT(&allowed)), 1, online);
}

}  // namespace offwait
