// SPDX-License-Identifier: GPL-2.0-or-later
// The CPU quotas of cgroups: cpu.max and cpu.stat of cgroup v2, cpu.cfs_quota_us, cpu.cfs_period_us and
// cpu.stat of v1 (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"

namespace offwait {

/// The hierarchy whose cgroups have CPU quotas.
struct CpuHierarchy {
  std::string mount;
  bool v1 = false;
};

/// Finds it in the text of /proc/self/mountinfo: that of v1 which has the controller `cpu`, else that of v2;
/// nothing if neither is mounted.
std::optional<CpuHierarchy> cpu_hierarchy(std::string_view mountinfo);

/// The name, below the hierarchy's mount, of the cgroup that a process is in, from the text of
/// /proc/PID/cgroup. Nothing if the text does not say, or if the name would lead out of the mount.
std::optional<std::string> cpu_cgroup(std::string_view proc_cgroup, bool v1);

/// A cgroup's name and those above it, without the root, which has no quota: `/a/b`, `/a`.
std::vector<std::string> with_ancestors(const std::string& name);

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
QuotaReading read_quota(const CpuHierarchy& hierarchy, const std::string& name);

}  // namespace offwait
