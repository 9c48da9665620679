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

/// What the limit of one cgroup leaves.
std::uint64_t left_in(const std::string& cgroup) {
  const std::optional<std::uint64_t> most = number_in(read_file(cgroup + "/memory.max"));  // or `max`
  const std::optional<std::uint64_t> taken = number_in(read_file(cgroup + "/memory.current"));
  if (!most || !taken) return UINT64_MAX;
  const std::string stat = read_file(cgroup + "/memory.stat");
  const std::uint64_t of_files =
      number_of(stat, "active_file ").value_or(0) + number_of(stat, "inactive_file ").value_or(0);
  const std::uint64_t kept = *taken - std::min(of_files, *taken);
  return *most - std::min(kept, *most);
}

}  // namespace

std::uint64_t available_memory(const std::string& proc, const std::string& cgroups) {
  constexpr std::uint64_t kKib = 1024;
  const std::optional<std::uint64_t> kib = number_of(read_file(proc + "/meminfo"), "MemAvailable:");
  std::uint64_t least = kib && *kib <= UINT64_MAX / kKib ? *kib * kKib : UINT64_MAX;
  const std::string own = read_file(proc + "/self/cgroup");
  const std::size_t line = own.starts_with("0::/") ? 0 : own.find("\n0::/");
  if (line == std::string::npos) return least;
  const std::size_t path = own.find('/', line);
  std::string below = own.substr(path, own.find('\n', path) - path);
  for (;; below.erase(below.rfind('/'))) {
    least = std::min(least, left_in(cgroups + below));
    if (below.empty()) return least;
  }
}

}  // namespace offwait
