// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/first_run.h"

#include <algorithm>
#include <type_traits>

namespace offwait {

Nanos first_run(const KernelRecording& recording, std::int32_t tid) {
  Nanos first = recording.window.begin;
  recording.records.for_each([&first, tid](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
      if (record.tid == static_cast<std::uint32_t>(tid) && record.block_ns == 0)
        first = std::max(first, static_cast<Nanos>(record.run_ns));
    }
  });
  return first;
}

}  // namespace offwait
