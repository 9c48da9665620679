// SPDX-License-Identifier: GPL-2.0-or-later
// The CPU quotas of cgroups: cpu.max and cpu.stat of cgroup v2, cpu.cfs_quota_us, cpu.cfs_period_us and
// cpu.stat of v1 (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/nanos.h"
#include "cgroup/controllers.h"

namespace offwait {

/// Processes may run for `quota` in each `period`.
struct CpuBandwidth {
  Nanos quota = 0;
  Nanos period = 0;
};
/// From the text of cpu.max; nothing if there is no limit (`max 100000`).
std::optional<CpuBandwidth> parse_cpu_max(std::string_view text);
/// From the texts of cpu.cfs_quota_us and cpu.cfs_period_us; nothing if there is no limit (`-1`).
std::optional<CpuBandwidth> parse_cfs_bandwidth(std::string_view quota_us, std::string_view period_us);

/// How often and how long a cgroup was throttled since it was made.
struct Throttling {
  std::uint64_t periods = 0;
  std::uint64_t throttled_periods = 0;
  Nanos throttled = 0;
};
/// From the text of cpu.stat of either version; what is not in it is 0.
Throttling parse_cpu_stat(std::string_view text);

/// What the kernel says of a cgroup now.
struct QuotaReading {
  std::optional<CpuBandwidth> limit;  ///< none: no quota, or there is no such cgroup
  Throttling throttling;
};
QuotaReading read_quota(const ControllerHierarchy& hierarchy, const std::string& name);

}  // namespace offwait
