// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/address_spaces.h"

#include <utility>

#include "process/mapped_files.h"

namespace offwait {

void AddressSpaces::begin_anew(std::int32_t tgid) {
  anew_.insert(tgid);
  look_soon(tgid);
}

std::set<std::int32_t> AddressSpaces::take_due(Nanos now) {
  constexpr Nanos kInterval = kSecond;
  std::set<std::int32_t> due = std::exchange(soon_, {});
  if (!next_ || now >= *next_) {
    next_ = now + kInterval;
    for (const auto& [tgid, space] : followed_) due.insert(tgid);
  }
  return due;
}

const AddressSpace* AddressSpaces::look_at(std::int32_t tgid) {
  const bool is_anew = anew_.erase(tgid) != 0;
  std::optional<LookedAtMappings> found = look_at_mappings(tgid);
  if (!found) {
    followed_.erase(tgid);
    return nullptr;
  }
  const auto [entry, is_new] = followed_.try_emplace(tgid);
  AddressSpace& space = entry->second;
  if (is_new || is_anew || space.mappings != found->executable || space.shared != found->shared) {
    space = {tgid, std::move(found->executable), std::move(found->shared)};
    changed_.insert_or_assign(tgid, space);
  }
  return &space;
}

void AddressSpaces::look_at_all() {
  std::set<std::int32_t> all = std::exchange(soon_, {});
  for (const auto& [tgid, space] : followed_) all.insert(tgid);
  for (const std::int32_t tgid : all) look_at(tgid);
}

std::vector<AddressSpace> AddressSpaces::take_changed() {
  std::vector<AddressSpace> changed;
  for (auto& [tgid, space] : std::exchange(changed_, {})) changed.push_back(std::move(space));
  return changed;
}

}  // namespace offwait
