// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/joined_stacks.h"

#include <optional>

#include "model/stack_cut.h"

namespace offwait {

JoinedStacks::JoinedStacks(const NamedStacks& named, TraceBuilder& builder)
    : named_(named), builder_(builder), frames_(named.frames.size()) {
  for (const auto& [id, stack] : named.recorded) {
    if (stack.cut == StackCut::no_mapping) lacked_mapping_.try_emplace(id, true);
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
  const auto found = named_.recorded.find(id);
  if (id == 0 || found == named_.recorded.end()) return;
  append_frames(found->second.frames, joined);
  if (found->second.cut) joined.cut = found->second.cut;
}

StackId JoinedStacks::joined(std::uint32_t kernel, std::uint32_t user) {
  if (kernel == 0 && user == 0) return kNoStack;
  const std::uint64_t key = std::uint64_t{kernel} << 32 | user;
  const auto [id, added] = joined_.try_emplace(key, kNoStack);
  if (!added) return id;
  Stack stack;
  append(kernel, stack);
  append(user, stack);
  return id = builder_.stack(stack);
}

StackId JoinedStacks::of(const offwait_spin& record) {
  const auto [spin, added] = spins_.try_emplace(stack_of(record), kNoStack);
  const auto named = named_.in_records.find(spin->first);
  if (added && named != named_.in_records.end()) {
    Stack stack;
    append_frames(named->second, stack);
    spin->second = builder_.stack(stack);
  }
  return spin->second;
}

StackId JoinedStacks::of(const offwait_sample& record) {
  if (record.pc == 0) return joined(record.kernel, record.user);
  const auto [sample, added] =
      samples_.try_emplace({record.kernel, record.user, record.pc, record.tgid}, kNoStack);
  if (!added) return sample->second;
  Stack stack;
  if (const auto leaf = named_.in_records.find(stack_of(record)); leaf != named_.in_records.end())
    append_frames(leaf->second, stack);
  append(record.kernel, stack);
  append(record.user, stack);
  return sample->second = builder_.stack(stack);
}

}  // namespace offwait
