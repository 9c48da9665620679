// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace offwait {

/// Bytes of memory that this process could take without driving others out: what the kernel calls available
/// or, if that is less, what the limits of its cgroup (v2 or v1) and of those above it leave. What files have
/// of a cgroup's memory counts as left. UINT64_MAX: not known. `proc` and `cgroups` are where /proc and the
/// file system of cgroups are mounted.
std::uint64_t available_memory(const std::string& proc = "/proc",
                               const std::string& cgroups = "/sys/fs/cgroup");

}  // namespace offwait
