// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/address_spaces.h"

#include <algorithm>
#include <utility>

#include "process/mapped_files.h"

namespace offwait {

void AddressSpaces::begin_anew(std::int32_t tgid) {
  if (copies_.erase(tgid) != 0) changed_.insert_or_assign(tgid, AddressSpace{tgid, {}});
  anew_.insert(tgid);
  look_soon(tgid);
}

void AddressSpaces::begin_as_copy(std::int32_t tgid, std::int32_t parent) {
  const auto original = followed_.find(parent);
  if (original == followed_.end() || parent == tgid) return begin_anew(tgid);
  AddressSpace copy{tgid, original->second.mappings, original->second.shared};
  changed_.insert_or_assign(tgid, AddressSpace{tgid, copy.mappings, copy.shared, parent});
  followed_.insert_or_assign(tgid, std::move(copy));
  copies_.insert(tgid);
  new_copies_.push_back(tgid);
  gone_.erase(tgid);
  anew_.erase(tgid);
}

bool AddressSpaces::end_copy(std::int32_t tgid) {
  if (copies_.erase(tgid) == 0) return false;
  followed_.erase(tgid);
  gone_.insert(tgid);
  return true;
}

std::set<std::int32_t> AddressSpaces::take_due(Nanos now) {
  constexpr Nanos kPartOfTime = 50;
  std::set<std::int32_t> due = std::exchange(soon_, {});
  if (all_due_at_ && now < *all_due_at_ + std::max(kSecond, kPartOfTime * all_took_)) return due;
  all_due_at_ = now;
  all_took_ = 0;
  all_due_.clear();
  for (const auto& [tgid, space] : followed_) all_due_.insert(tgid);
  due.insert(all_due_.begin(), all_due_.end());
  return due;
}

const AddressSpace* AddressSpaces::look_at(std::int32_t tgid) {
  const Nanos begin = clock_();
  const AddressSpace* const space = read(tgid);
  if (all_due_.erase(tgid) != 0) all_took_ += clock_() - begin;
  return space;
}

const AddressSpace* AddressSpaces::read(std::int32_t tgid) {
  const bool is_anew = anew_.erase(tgid) != 0;
  copies_.erase(tgid);
  std::optional<LookedAtMappings> found = look_at_mappings(tgid);
  if (!found) {
    if (followed_.erase(tgid) != 0) gone_.insert(tgid);
    return nullptr;
  }
  gone_.erase(tgid);
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

std::vector<std::int32_t> AddressSpaces::take_gone() {
  const std::set<std::int32_t> gone = std::exchange(gone_, {});
  return {gone.begin(), gone.end()};
}

std::vector<AddressSpace> AddressSpaces::take_changed() {
  std::vector<AddressSpace> changed;
  for (auto& [tgid, space] : changed_) {
    if (space.copied_from == 0) changed.push_back(std::move(space));
  }
  for (const std::int32_t tgid : std::exchange(new_copies_, {})) {
    const auto copy = changed_.find(tgid);
    if (copy != changed_.end() && copy->second.copied_from != 0) changed.push_back(copy->second);
  }
  changed_.clear();
  return changed;
}

}  // namespace offwait
