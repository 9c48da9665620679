// SPDX-License-Identifier: GPL-2.0-or-later
// The cgroup v2 hierarchy as it is mounted here, alone or beside v1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

/// A directory of the hierarchy.
struct Cgroup {
  std::uint64_t id = 0;   ///< what BPF programs know it by; never used again by another one
  std::string directory;  ///< absolute
  std::string name;       ///< below the mount, as /proc/PID/cgroup has it: "/system.slice/x.service"
};

/// Where cgroup v2 is mounted, from the text of /proc/self/mountinfo. Nothing if it is not.
std::optional<std::string> cgroup_mount(std::string_view mountinfo);

/// Where cgroup v2 is mounted for this process. The Error says what to do if it is not.
Result<std::string> cgroup_mount();

/// `path` is a cgroup's directory, or its name with or without the leading '/'. Fails, with a sentence each,
/// when there is none, when it is of cgroup v1, and when it is something else.
Result<Cgroup> find_cgroup(const std::string& path);

/// False once it has been removed.
bool exists(const Cgroup& cgroup);

/// Every directory below the mount, by its name, parents first; the root's is "/".
std::vector<std::string> list_cgroups(const std::string& mount);

/// Processes in it and below it; of those that are there in part, one or more of their threads.
std::vector<std::int32_t> processes_in(const Cgroup& cgroup);

}  // namespace offwait
