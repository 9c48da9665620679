// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a container runtime's state, as /proc/self/mountinfo, and as names. The first name is a unit
// or container to find among the others, which are names of cgroups: the result is one of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/controllers.h"
#include "cgroup/cpu_quota.h"
#include "cgroup/hierarchy.h"
#include "cgroup/memory_limit.h"
#include "cgroup/names.h"

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  if (const auto cgroup = offwait::cgroup_of_state(text); cgroup && cgroup->empty()) std::abort();
  offwait::cgroup_mount(text);
  offwait::hierarchy_of("cpu", text);
  offwait::parse_memory_limit(text, text);
  offwait::parse_limit_in_bytes(text);
  offwait::machine_memory(text, text);
  offwait::parse_cpu_max(text);
  offwait::parse_cpu_stat(text);
  for (const bool v1 : {false, true}) {
    const auto name = offwait::cgroup_for("cpu", text, v1);
    if (name && !name->starts_with('/')) std::abort();
    for (const std::string& above : offwait::with_ancestors(name.value_or("")))
      if (above.size() < 2 || !name->starts_with(above)) std::abort();
  }
  const std::vector<std::string> lines = lines_of(text);
  if (lines.empty()) return 0;
  const std::vector<std::string> cgroups(lines.begin() + 1, lines.end());
  for (const auto& found :
       {offwait::find_unit(cgroups, lines.front()), offwait::find_container(cgroups, lines.front())}) {
    if (found.ok() && std::find(cgroups.begin(), cgroups.end(), *found) == cgroups.end()) std::abort();
  }
  return 0;
}
