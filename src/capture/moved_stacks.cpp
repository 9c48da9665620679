// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/moved_stacks.h"

#include <unordered_set>

namespace offwait {

void MovedStacks::add(std::uint32_t id, const offwait_stack& stack) {
  if (stacks_.emplace(id, Moved{stack}).second) ++of_generation_.at(generation_of(id));
}

const offwait_stack* MovedStacks::find(std::uint32_t id) const {
  const auto found = stacks_.find(id);
  return found == stacks_.end() ? nullptr : &found->second.stack;
}

void MovedStacks::add_to(KernelRecording& recording) const {
  for (const auto& [id, moved] : stacks_) recording.stacks.emplace(id, moved.stack);
}

std::optional<std::uint32_t> MovedStacks::generation_after(std::uint32_t current) const {
  for (std::uint32_t i = 1; i < OFFWAIT_STACK_GENERATIONS; ++i) {
    const std::uint32_t next = (current + i) % OFFWAIT_STACK_GENERATIONS;
    if (of_generation_.at(next) == 0) return next;
  }
  return std::nullopt;
}

void MovedStacks::note_threads(std::span<const std::pair<std::uint32_t, offwait_thread>> threads, Nanos now) {
  std::unordered_set<std::uint32_t> used;
  for (const auto& [tid, thread] : threads) {
    for (const std::uint32_t id : stacks_of(thread)) used.insert(id);
  }
  for (auto& [id, moved] : stacks_) {
    // A thread had this stack until just now, and a record may refer to it.
    if (moved.has_thread) moved.last = now;
    moved.has_thread = used.contains(id);
  }
}

void MovedStacks::forget_before(Nanos begin) {
  std::erase_if(stacks_, [&](const auto& one) {
    const auto& [id, moved] = one;
    if (moved.has_thread || moved.last > begin) return false;
    --of_generation_.at(generation_of(id));
    return true;
  });
}

}  // namespace offwait
