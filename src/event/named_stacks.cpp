// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/named_stacks.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "code/kernel.h"
#include "offwait/unwind.h"

namespace offwait {

RecordStack stack_of(const offwait_spin& record) {
  const std::uint32_t frames = std::min<std::uint32_t>(record.frames, OFFWAIT_SPIN_FRAMES);
  return {record.tgid, {std::begin(record.pc), std::begin(record.pc) + frames}};
}

RecordStack stack_of(const offwait_sample& record) { return {record.tgid, {record.pc}}; }

std::set<RecordStack> stacks_in_records(const KernelRecording& recording) {
  std::set<RecordStack> stacks;
  if (recording.records.count(OFFWAIT_RECORD_SPIN) + recording.records.count(OFFWAIT_RECORD_SAMPLE) == 0)
    return stacks;
  recording.records.for_each_kind([&stacks](const auto& record) {
    using Record = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<Record, offwait_spin>) {
      stacks.insert(stack_of(record));
    } else if constexpr (std::is_same_v<Record, offwait_sample>) {
      if (record.pc != 0) stacks.insert(stack_of(record));
    }
  });
  return stacks;
}

std::optional<StackCut> cut_of(const offwait_stack& stack) {
  if (stack.tgid == 0) return std::nullopt;
  switch (stack.end) {
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

bool RecorderFrames::reach(std::span<const Frame> frames) {
  so_far_ = frames.empty() ||
            (so_far_ && frames.front().kind == Frame::Kind::kernel && ends_switch(frames.front().function));
  return so_far_;
}

}  // namespace offwait
