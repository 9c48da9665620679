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
  const auto copy = copies_.find(parent);
  const std::int32_t original = copy == copies_.end() ? parent : copy->second;
  // What is known of the parent may be another program's.
  const bool is_known = followed_.contains(original) && !anew_.contains(original);
  if (original == tgid || !is_known) return begin_anew(tgid);
  followed_.erase(tgid);  // another process had its number
  changed_.insert_or_assign(tgid, AddressSpace{tgid, {}, {}, original});
  copies_.insert_or_assign(tgid, original);
  gone_.erase(tgid);
  anew_.erase(tgid);
}

bool AddressSpaces::end_copy(std::int32_t tgid) {
  if (copies_.erase(tgid) == 0) return false;
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
  for (const auto& [tgid, original] : copies_) all_due_.insert(tgid);
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
  const bool was_copy = copies_.erase(tgid) != 0;
  std::optional<LookedAtMappings> found = look_at_mappings(tgid);
  if (!found) {
    if (followed_.erase(tgid) != 0 || was_copy) gone_.insert(tgid);
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
  for (const auto& [tgid, original] : copies_) all.insert(tgid);
  for (const std::int32_t tgid : all) look_at(tgid);
}

std::vector<std::int32_t> AddressSpaces::take_gone() {
  const std::set<std::int32_t> gone = std::exchange(gone_, {});
  return {gone.begin(), gone.end()};
}

std::vector<AddressSpace> AddressSpaces::take_changed(Copies copies) {
  std::vector<AddressSpace> changed;
  for (auto& [tgid, space] : std::exchange(changed_, {})) {
    const auto original = followed_.find(space.copied_from);
    if (copies == Copies::with_mappings && original != followed_.end()) {
      space.mappings = original->second.mappings;
      space.shared = original->second.shared;
    }
    changed.push_back(std::move(space));
  }
  return changed;
}

}  // namespace offwait
