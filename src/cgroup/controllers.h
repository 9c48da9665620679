// SPDX-License-Identifier: GPL-2.0-or-later
// Which hierarchy of cgroups a controller is in, and the cgroups of a process there
// (Documentation/admin-guide/cgroup-v2.rst, Documentation/admin-guide/cgroup-v1/cgroups.rst).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

/// The hierarchy whose cgroups have the files of a controller.
struct ControllerHierarchy {
  std::string mount;
  bool v1 = false;
};

/// Finds it in the text of /proc/self/mountinfo: that of v1 which has the controller (`cpu`, `memory`), else
/// that of v2; nothing if neither is mounted.
std::optional<ControllerHierarchy> hierarchy_of(std::string_view controller, std::string_view mountinfo);

/// The name, below the hierarchy's mount, of the cgroup that a process is in, from the text of
/// /proc/PID/cgroup. Nothing if the text does not say, or if the name would lead out of the mount.
std::optional<std::string> cgroup_for(std::string_view controller, std::string_view proc_cgroup, bool v1);

/// A cgroup's name and those above it, without the root, which has no limits: `/a/b`, `/a`.
std::vector<std::string> with_ancestors(const std::string& name);

}  // namespace offwait
