// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/joined_stacks.h"

#include <optional>

#include "model/stack_cut.h"
#include "offwait/unwind.h"

namespace offwait {

namespace {

std::optional<StackCut> cut_of_end(std::uint16_t end) {
  switch (end) {
    case OFFWAIT_STACK_DEEP:
      return StackCut::deep;
    case OFFWAIT_STACK_NO_MAPPING:
      return StackCut::no_mapping;
    case OFFWAIT_STACK_NO_RULE:
      return StackCut::no_rule;
    case OFFWAIT_STACK_NO_FP:
      return StackCut::no_frame_pointer;
    case OFFWAIT_STACK_UNREADABLE:
      return StackCut::unreadable;
    default:
      return std::nullopt;
  }
}

}  // namespace

JoinedStacks::JoinedStacks(const KernelRecording& recording, const NamedStacks& named, TraceBuilder& builder)
    : recording_(recording), named_(named), builder_(builder), frames_(named.frames.size()) {
  for (const auto& [id, stack] : recording.stacks) {
    if (stack.end == OFFWAIT_STACK_NO_MAPPING) lacked_mapping_.insert(id);
  }
}

void JoinedStacks::append_frames(const NamedStacks::Indices& indices, Stack& joined) {
  for (const std::uint32_t index : indices) {
    std::optional<FrameId>& frame = frames_[index];
    if (!frame) frame = builder_.frame(named_.frames[index]);
    joined.frames.push_back(*frame);
  }
}

void JoinedStacks::append(std::uint32_t id, Stack& joined) {
  const auto found = recording_.stacks.find(id);
  if (id == 0 || found == recording_.stacks.end()) return;
  if (const auto named = named_.recorded.find(id); named != named_.recorded.end())
    append_frames(named->second, joined);
  if (found->second.tgid != 0) joined.cut = cut_of_end(found->second.end);
}

StackId JoinedStacks::joined(std::uint32_t kernel, std::uint32_t user) {
  if (kernel == 0 && user == 0) return kNoStack;
  const std::uint64_t key = std::uint64_t{kernel} << 32 | user;
  if (const auto found = joined_.find(key); found != joined_.end()) return found->second;
  Stack stack;
  append(kernel, stack);
  append(user, stack);
  const StackId id = builder_.stack(stack);
  joined_.emplace(key, id);
  return id;
}

StackId JoinedStacks::of(const offwait_spin& record) {
  const auto [spin, added] = spins_.try_emplace(stack_of(record), kNoStack);
  const auto named = named_.spins.find(spin->first);
  if (added && named != named_.spins.end()) {
    Stack stack;
    append_frames(named->second, stack);
    spin->second = builder_.stack(stack);
  }
  return spin->second;
}

}  // namespace offwait
