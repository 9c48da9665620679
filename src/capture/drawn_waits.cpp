// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/drawn_waits.h"

#include <algorithm>
#include <cstring>

namespace offwait {
namespace {

constexpr std::uint32_t kDrawn = OFFWAIT_DRAW_TAKEN | OFFWAIT_DRAW_CHANCE;

template <class Record>
Record read_as(std::span<const std::byte> bytes) {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof(record));
  return record;
}

}  // namespace

bool DrawnWaits::append(std::span<const std::byte> record, RecordBuffer& records) {
  if (record.size() < sizeof(offwait_record)) return records.append(record);
  const auto begin = read_as<offwait_record>(record);
  if (begin.type == OFFWAIT_RECORD_WAIT_STACKS) return add_stacks(record, records);
  if (!kept_.empty() && begin.type != OFFWAIT_RECORD_THREAD) {
    const auto earlier = std::find_if(kept_.begin(), kept_.end(),
                                      [&begin](const offwait_wait& wait) { return wait.tid == begin.tid; });
    if (earlier != kept_.end()) {
      append_without_stacks(*earlier, records);
      kept_.erase(earlier);
    }
  }
  if (begin.type == OFFWAIT_RECORD_WAIT && record.size() == sizeof(offwait_wait)) {
    const auto wait = read_as<offwait_wait>(record);
    if ((wait.draw & kDrawn) == kDrawn) {
      kept_.push_back(wait);
      return true;
    }
  }
  return records.append(record);
}

/// Stacks without their wait are left out with it: it was lost.
bool DrawnWaits::add_stacks(std::span<const std::byte> record, RecordBuffer& records) {
  if (record.size() != sizeof(offwait_wait_stacks)) return false;
  const auto stacks = read_as<offwait_wait_stacks>(record);
  const auto wait = std::find_if(kept_.begin(), kept_.end(), [&stacks](const offwait_wait& one) {
    return one.tid == stacks.tid && one.run_ns == stacks.run_ns;
  });
  if (wait == kept_.end()) return true;
  wait->wait_user = stacks.wait_user;
  wait->wait_kernel = stacks.wait_kernel;
  records.append(std::as_bytes(std::span(&*wait, 1)));
  kept_.erase(wait);
  return true;
}

void DrawnWaits::append_without_stacks(offwait_wait wait, RecordBuffer& records) {
  wait.draw &= ~OFFWAIT_DRAW_TAKEN;
  wait.waker_user = 0;
  if ((wait.flags & OFFWAIT_WAIT_SENT) == 0) wait.waker_kernel = 0;
  records.append(std::as_bytes(std::span(&wait, 1)));
}

void DrawnWaits::flush(RecordBuffer& records) {
  for (const offwait_wait& wait : kept_) append_without_stacks(wait, records);
  kept_.clear();
}

}  // namespace offwait
