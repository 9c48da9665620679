// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/named_stacks.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace offwait {

SpinStack stack_of(const offwait_spin& record) {
  const std::uint32_t frames = std::min<std::uint32_t>(record.frames, OFFWAIT_SPIN_FRAMES);
  return {record.tgid, {std::begin(record.pc), std::begin(record.pc) + frames}};
}

std::set<SpinStack> spin_stacks(const KernelRecording& recording) {
  std::set<SpinStack> stacks;
  if (recording.records.count(OFFWAIT_RECORD_SPIN) == 0) return stacks;
  recording.records.for_each([&stacks](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_spin>)
      stacks.insert(stack_of(record));
  });
  return stacks;
}

}  // namespace offwait
