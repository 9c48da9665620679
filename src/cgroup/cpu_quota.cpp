// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "base/read_file.h"
#include "cgroup/hierarchy.h"

namespace offwait {
namespace {

constexpr Nanos kMicrosecond = 1000;

/// Takes the text up to the separator, which goes too, from the front of `text`.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (take_until(list, ',') == word) return true;
  }
  return false;
}

/// A number that is not negative, followed by nothing but a newline.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && parsed == end ? std::optional(number) : std::nullopt;
}

/// A time that the text gives in units of `unit` ns; nothing if it is not above 0, or too long to be one.
std::optional<Nanos> time_of(std::string_view text, Nanos unit) {
  const std::optional<std::uint64_t> number = whole_number(text);
  if (!number || *number == 0 || *number >= static_cast<std::uint64_t>(kNever / unit)) return std::nullopt;
  return static_cast<Nanos>(*number) * unit;
}

std::optional<CpuBandwidth> bandwidth(std::string_view quota_us, std::string_view period_us) {
  const std::optional<Nanos> quota = time_of(quota_us, kMicrosecond);
  const std::optional<Nanos> period = time_of(period_us, kMicrosecond);
  return quota && period ? std::optional(CpuBandwidth{*quota, *period}) : std::nullopt;
}

/// Where the mount of a line of mountinfo is: its fifth word.
std::string mount_point(const std::string& line) {
  std::istringstream fields(line);
  std::string point;
  for (int i = 0; i < 5; ++i) fields >> point;
  return point;
}

}  // namespace

std::optional<CpuHierarchy> cpu_hierarchy(std::string_view mountinfo) {
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    // ID PARENT DEVICE ROOT POINT OPTIONS [TAG]... - TYPE SOURCE OPTIONS
    const std::size_t end = line.find(" - cgroup ");
    if (end == std::string::npos) continue;
    if (has_word(std::string_view(line).substr(line.rfind(' ') + 1), "cpu"))
      return CpuHierarchy{mount_point(line), true};
  }
  const std::optional<std::string> v2 = cgroup_mount(mountinfo);
  return v2 ? std::optional(CpuHierarchy{*v2, false}) : std::nullopt;
}

std::optional<std::string> cpu_cgroup(std::string_view proc_cgroup, bool v1) {
  while (!proc_cgroup.empty()) {
    // ID:CONTROLLERS:NAME; v2 has no controllers here.
    std::string_view line = take_until(proc_cgroup, '\n');
    take_until(line, ':');
    const std::string_view controllers = take_until(line, ':');
    if (v1 ? !has_word(controllers, "cpu") : !controllers.empty()) continue;
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

std::optional<CpuBandwidth> parse_cpu_max(std::string_view text) {
  const std::string_view quota = take_until(text, ' ');
  return bandwidth(quota, text);
}

std::optional<CpuBandwidth> parse_cfs_bandwidth(std::string_view quota_us, std::string_view period_us) {
  return bandwidth(quota_us, period_us);
}

Throttling parse_cpu_stat(std::string_view text) {
  Throttling out;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view key = take_until(line, ' ');
    if (key == "nr_periods") out.periods = whole_number(line).value_or(0);
    if (key == "nr_throttled") out.throttled_periods = whole_number(line).value_or(0);
    if (key == "throttled_usec") out.throttled = time_of(line, kMicrosecond).value_or(0);
    if (key == "throttled_time") out.throttled = time_of(line, 1).value_or(0);
  }
  return out;
}

QuotaReading read_quota(const CpuHierarchy& hierarchy, const std::string& name) {
  const std::string directory = hierarchy.mount + name;
  QuotaReading reading;
  reading.limit = hierarchy.v1 ? parse_cfs_bandwidth(read_file(directory + "/cpu.cfs_quota_us"),
                                                     read_file(directory + "/cpu.cfs_period_us"))
                               : parse_cpu_max(read_file(directory + "/cpu.max"));
  if (reading.limit) reading.throttling = parse_cpu_stat(read_file(directory + "/cpu.stat"));
  return reading;
}

}  // namespace offwait
