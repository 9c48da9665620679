// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/name_patterns.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fnmatch.h>

#include "base/exit_status.h"

namespace offwait {
namespace {

std::string quoted(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  return "'" + name.substr(0, kLongest) + (name.size() > kLongest ? "…'" : "'");
}

}  // namespace

bool name_matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string names_there_are(const std::set<std::string>& names) {
  constexpr std::size_t kMostNamed = 8;
  if (names.empty()) return "there is none";
  std::string text;
  std::size_t named = 0;
  for (auto name = names.begin(); name != names.end() && named < kMostNamed; ++name, ++named) {
    text += (named > 0 ? ", " : "") + quoted(*name);
  }
  if (named < names.size()) text += fmt::format(" and {} more", names.size() - named);
  return "there are " + text;
}

Status check_patterns(const std::vector<std::string>& patterns, const std::set<std::string>& names,
                      std::string_view what) {
  for (const std::string& pattern : patterns) {
    if (std::none_of(names.begin(), names.end(),
                     [&pattern](const std::string& name) { return name_matches(pattern, name); }))
      return Error{fmt::format("{} is called {}; {}", what, quoted(pattern), names_there_are(names)), kUsage};
  }
  return success();
}

}  // namespace offwait
