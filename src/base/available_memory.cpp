// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/available_memory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/read_file.h"

namespace offwait {
namespace {

/// The number at the start of a text, behind blanks.
std::optional<std::uint64_t> number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const std::from_chars_result parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// What follows `key` in the line that begins with it.
std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) return number_in(line.substr(key.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

/// How a version of cgroups calls a group's limit, what the group has of it, and what that has of files.
struct Names {
  std::string limit;
  std::string taken;
  std::string stat_prefix;
};

/// What the limit of one cgroup leaves.
std::uint64_t left_in(const std::string& cgroup, const Names& names) {
  const std::optional<std::uint64_t> most = number_in(read_file(cgroup + names.limit));  // or `max`
  const std::optional<std::uint64_t> taken = number_in(read_file(cgroup + names.taken));
  if (!most || !taken) return UINT64_MAX;
  const std::string stat = read_file(cgroup + "/memory.stat");
  const std::uint64_t of_files = number_of(stat, names.stat_prefix + "active_file ").value_or(0) +
                                 number_of(stat, names.stat_prefix + "inactive_file ").value_or(0);
  const std::uint64_t kept = *taken - std::min(of_files, *taken);
  return *most - std::min(kept, *most);
}

/// The path behind `hierarchy` in a line of /proc/PID/cgroup; nothing if it has no such line.
std::optional<std::string> path_in(const std::string& cgroup, const std::string& hierarchy) {
  const std::size_t line = ("\n" + cgroup).find(hierarchy);
  if (line == std::string::npos) return std::nullopt;
  const std::size_t path = cgroup.find('/', line);
  if (path == std::string::npos) return std::nullopt;
  return cgroup.substr(path, cgroup.find('\n', path) - path);
}

/// What the limits of the cgroup and of those above it leave. In a container the cgroup may have its path on
/// the host and be the mount itself, which is looked at last.
std::uint64_t left_below(const std::string& mount, std::string path, const Names& names) {
  std::uint64_t least = UINT64_MAX;
  for (;; path.erase(path.rfind('/'))) {
    least = std::min(least, left_in(mount + path, names));
    if (path.empty()) return least;
  }
}

}  // namespace

std::uint64_t available_memory(const std::string& proc, const std::string& cgroups) {
  constexpr std::uint64_t kKib = 1024;
  const std::optional<std::uint64_t> kib = number_of(read_file(proc + "/meminfo"), "MemAvailable:");
  std::uint64_t least = kib && *kib <= UINT64_MAX / kKib ? *kib * kKib : UINT64_MAX;
  const std::string own = read_file(proc + "/self/cgroup");
  if (const std::optional<std::string> path = path_in(own, "\n0::/"))
    least = std::min(least, left_below(cgroups, *path, {"/memory.max", "/memory.current", ""}));
  if (const std::optional<std::string> path = path_in(own, ":memory:/")) {
    const Names names{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_"};
    least = std::min(least, left_below(cgroups + "/memory", *path, names));
  }
  return least;
}

}  // namespace offwait
