// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/joined_stacks.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

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

offwait_stack stack_of(const offwait_spin& record) {
  offwait_stack stack{};
  stack.tgid = record.tgid;
  stack.frames = static_cast<__u16>(std::min<std::uint32_t>(record.frames, OFFWAIT_SPIN_FRAMES));
  std::copy_n(std::begin(record.pc), stack.frames, std::begin(stack.pc));
  stack.end = OFFWAIT_STACK_BY_KERNEL;
  return stack;
}

JoinedStacks::JoinedStacks(const KernelRecording& recording, const StackNamer& name_stack,
                           TraceBuilder& builder)
    : recording_(recording), name_stack_(name_stack), builder_(builder) {
  for (const auto& [id, stack] : recording.stacks) {
    if (stack.end == OFFWAIT_STACK_NO_MAPPING) lacked_mapping_.insert(id);
  }
}

void JoinedStacks::append_frames(const offwait_stack& stack, Stack& joined) {
  for (const Frame& frame : name_stack_(stack)) joined.frames.push_back(builder_.frame(frame));
}

void JoinedStacks::append(std::uint32_t id, Stack& joined) {
  const auto found = recording_.stacks.find(id);
  if (id == 0 || found == recording_.stacks.end()) return;
  append_frames(found->second, joined);
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
  const offwait_stack stack = stack_of(record);
  std::vector<std::uint64_t> key{stack.tgid};
  key.insert(key.end(), std::begin(stack.pc), std::begin(stack.pc) + stack.frames);
  const auto [found, added] = spin_stacks_.try_emplace(std::move(key), kNoStack);
  if (added) {
    Stack named;
    append_frames(stack, named);
    found->second = builder_.stack(named);
  }
  return found->second;
}

}  // namespace offwait
