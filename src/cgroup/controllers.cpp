// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/controllers.h"

#include <sstream>

#include "cgroup/hierarchy.h"
#include "cgroup/stat_text.h"

namespace offwait {
namespace {

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (take_until(list, ',') == word) return true;
  }
  return false;
}

/// Where the mount of a line of mountinfo is: its fifth word.
std::string mount_point(const std::string& line) {
  std::istringstream fields(line);
  std::string point;
  for (int i = 0; i < 5; ++i) fields >> point;
  return point;
}

}  // namespace

std::optional<ControllerHierarchy> hierarchy_of(std::string_view controller, std::string_view mountinfo) {
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    // ID PARENT DEVICE ROOT POINT OPTIONS [TAG]... - TYPE SOURCE OPTIONS
    const std::size_t end = line.find(" - cgroup ");
    if (end == std::string::npos) continue;
    if (has_word(std::string_view(line).substr(line.rfind(' ') + 1), controller))
      return ControllerHierarchy{mount_point(line), true};
  }
  const std::optional<std::string> v2 = cgroup_mount(mountinfo);
  return v2 ? std::optional(ControllerHierarchy{*v2, false}) : std::nullopt;
}

std::optional<std::string> cgroup_for(std::string_view controller, std::string_view proc_cgroup, bool v1) {
  while (!proc_cgroup.empty()) {
    // ID:CONTROLLERS:NAME; v2 has no controllers here.
    std::string_view line = take_until(proc_cgroup, '\n');
    take_until(line, ':');
    const std::string_view controllers = take_until(line, ':');
    if (v1 ? !has_word(controllers, controller) : !controllers.empty()) continue;
    // The name of a cgroup outside of this process's cgroup namespace begins with "/..".
    if (!line.starts_with('/') || line.starts_with("/..")) return std::nullopt;
    return std::string(line);
  }
  return std::nullopt;
}

std::vector<std::string> with_ancestors(const std::string& name) {
  std::vector<std::string> names;
  for (std::string above = name; above.size() > 1; above.resize(above.rfind('/'))) {
    if (!above.starts_with('/')) break;
    names.push_back(above);
  }
  return names;
}

}  // namespace offwait
