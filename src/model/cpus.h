// SPDX-License-Identifier: GPL-2.0-or-later
// The machine's CPUs in the window: how busy each was, what kept threads of the target from using them, and
// which other processes did use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"

namespace offwait {

/// The CPUs `first` to `last`, both included, by the kernel's numbers.
struct CpuRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  friend bool operator==(const CpuRange&, const CpuRange&) = default;
};

/// A set of CPUs: ranges in ascending order, with at least one CPU missing between two of them.
using CpuList = std::vector<CpuRange>;
inline constexpr std::size_t kMostCpuRanges = 8192;  ///< Linux has 8192 CPUs at most

/// Whether the ranges are in order, and at most kMostCpuRanges.
bool is_cpu_list(const CpuList& cpus);
bool contains(const CpuList& cpus, std::uint32_t cpu);
/// As the kernel writes it: `0-3,7`.
std::string to_string(const CpuList& cpus);
/// Reads what to_string() writes; nothing if the text is empty or has another form.
std::optional<CpuList> parse_cpu_list(std::string_view text);

/// What one CPU did in the window, whichever program used it.
struct CpuTime {
  std::uint32_t cpu = 0;
  Nanos busy_ns = 0;  ///< as Recording::cpu_busy_ns
  Nanos idle_ns = 0;
};

/// A cgroup that processes of the target are in, or one above it, that has a CPU quota: its processes
/// together may run for quota_ns in each period_ns; they are throttled for the rest of a period once they
/// have (cpu.max of cgroup v2, cpu.cfs_quota_us of v1; Documentation/scheduler/sched-bwc.rst).
struct CpuQuota {
  std::string cgroup;                   ///< its name below the mount; hostile bytes
  Nanos quota_ns = 0;                   ///< above 0
  Nanos period_ns = 0;                  ///< above 0
  std::uint64_t periods = 0;            ///< in the window, in which its processes ran (nr_periods)
  std::uint64_t throttled_periods = 0;  ///< in which the quota was used up (nr_throttled)
  Nanos throttled_ns = 0;               ///< summed over CPUs, so it may exceed the window
};
/// How many CPUs it gives.
double cpus_of(const CpuQuota& quota);
/// The part of its periods in which it was used up, 0 to 1.
double used_up(const CpuQuota& quota);
/// The quota that was used up in the largest part of its periods; null if none of them ever was.
const CpuQuota* most_used_up(const std::vector<CpuQuota>& quotas);

/// The CPU time that a process outside of the target used in the window.
struct ProcessCpuTime {
  std::int32_t tgid = 0;  ///< above 0
  std::string name;       ///< its main thread's; hostile bytes
  Nanos own_ns = 0;       ///< by its threads
  Nanos children_ns = 0;  ///< by children that ended in the window, and by theirs
};

}  // namespace offwait
