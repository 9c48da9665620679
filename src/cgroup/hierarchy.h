// SPDX-License-Identifier: GPL-2.0-or-later
// The cgroup v2 hierarchy as it is mounted on this host, alone or beside v1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

/// One cgroup, which is a directory of the hierarchy.
struct Cgroup {
  std::uint64_t id = 0;   ///< the number by which BPF programs know it; the kernel never reuses it
  std::string directory;  ///< absolute
  std::string name;       ///< below the mount, as /proc/PID/cgroup has it: "/system.slice/x.service"
};

/// Where cgroup v2 is mounted, from the text of /proc/self/mountinfo. Nothing if it is not.
std::optional<std::string> cgroup_mount(std::string_view mountinfo);

/// Where cgroup v2 is mounted for this process. The Error says what to do if it is not.
Result<std::string> cgroup_mount();

/// `path` is a cgroup's directory, or its name with or without the leading '/'. Fails, with a sentence each,
/// when there is no such cgroup, when it belongs to cgroup v1, and when the path is something else.
Result<Cgroup> find_cgroup(const std::string& path);

/// False once the cgroup has been removed.
bool exists(const Cgroup& cgroup);

/// The names of all cgroups below the mount, parents first; the root's name is "/".
std::vector<std::string> list_cgroups(const std::string& mount);

/// The processes in the cgroup and below it. A process that has only some threads there is represented by one
/// or more of them.
std::vector<std::int32_t> processes_in(const Cgroup& cgroup);

}  // namespace offwait
