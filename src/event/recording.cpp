// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/recording.h"

#include <cstring>

namespace offwait {

std::size_t record_size(std::uint8_t type) {
  switch (type) {
    case OFFWAIT_RECORD_WAIT:
      return sizeof(offwait_wait);
    case OFFWAIT_RECORD_PREEMPTION:
      return sizeof(offwait_preemption);
    case OFFWAIT_RECORD_GAP:
      return sizeof(offwait_gap);
    case OFFWAIT_RECORD_THREAD:
      return sizeof(offwait_thread_record);
    case OFFWAIT_RECORD_IO:
      return sizeof(offwait_io);
    default:
      return 0;
  }
}

static_assert(sizeof(offwait_wait) % 8 == 0 && sizeof(offwait_preemption) % 8 == 0 &&
                  sizeof(offwait_gap) % 8 == 0 && sizeof(offwait_thread_record) % 8 == 0 &&
                  sizeof(offwait_io) % 8 == 0,
              "records are stored back to back and must stay aligned");

bool RecordBuffer::append(std::span<const std::byte> record) {
  if (record.empty()) return false;
  const auto type = static_cast<std::uint8_t>(record[0]);
  const std::size_t size = record_size(type);
  // The ring buffer rounds nothing: what is submitted is what arrives.
  if (size == 0 || record.size() != size) return false;
  if (blocks_.empty() || kBlockBytes - blocks_.back().used < size) {
    // NOLINTNEXTLINE(modernize-avoid-c-arrays)
    blocks_.push_back(Block{std::make_unique_for_overwrite<std::byte[]>(kBlockBytes), 0});
  }
  Block& block = blocks_.back();
  std::memcpy(block.data.get() + block.used, record.data(), size);
  block.used += size;
  bytes_ += size;
  ++counts_[type];
  return true;
}

std::uint64_t RecordBuffer::count(offwait_record_type type) const { return counts_[type]; }

}  // namespace offwait
