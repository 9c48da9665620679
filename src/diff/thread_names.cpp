// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/thread_names.h"

#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "model/outline.h"

namespace offwait {

namespace {

/// What may be added to a name, in this order.
using Additions = std::array<std::string, 4>;
Additions additions_of(const ThreadKindKey& key) {
  // `function (module)`: the arguments of C++ functions and the module say nothing more to people.
  const std::string start = outline(key.start);
  return {start, key.process.empty() ? "" : "of " + key.process, key.program, key.first ? "main" : ""};
}

}  // namespace

ThreadNames::ThreadNames(const std::vector<const Profile*>& profiles) {
  for (const Profile* profile : profiles) {
    for (const auto& [key, sums] : profile->threads) {
      const auto [found, added] = names_.try_emplace(key, sums.name);
      if (!added) found->second = common_name_of(found->second, sums.name);
    }
  }
  for (std::size_t addition = 0; addition < Additions{}.size(); ++addition) {
    std::map<std::string, std::set<std::string>> of_name;
    for (const auto& [key, name] : names_) of_name[name].insert(additions_of(key)[addition]);
    for (auto& [key, name] : names_) {
      const std::string more = additions_of(key)[addition];
      if (of_name[name].size() > 1 && !more.empty()) name += " [" + more + "]";
    }
  }
  std::map<std::string, std::size_t> numbers;
  for (auto& [key, name] : names_) {
    const std::size_t number = ++numbers[name];
    if (number > 1) name += " #" + std::to_string(number);
  }
}

std::string ThreadNames::of(const ThreadKindKey& key) const {
  const auto found = names_.find(key);
  return found == names_.end() ? "" : found->second;
}

}  // namespace offwait
