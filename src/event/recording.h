// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as it left the kernel: undecoded records and the tables they refer to. Plain values;
// src/capture fills it in, assemble() (assemble.h) turns it into a Trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "offwait/event.h"

namespace offwait {

/// Size in bytes of a record that begins with this type, 0 for an unknown type.
std::size_t record_size(std::uint8_t type);

/// Records one after the other, in the order of their emission. Appending never moves what is there already.
class RecordBuffer {
 public:
  /// Copies one record. False (and nothing is copied) if it is no known record of this size.
  bool append(std::span<const std::byte> record);

  std::uint64_t count(offwait_record_type type) const;
  std::size_t bytes() const { return bytes_; }

  /// Calls visit(const offwait_wait&), visit(const offwait_preemption&), … for each record, in order.
  template <class Visitor>
  void for_each(Visitor&& visit) const;

 private:
  struct Block {
    std::unique_ptr<std::byte[]> data;  // NOLINT(modernize-avoid-c-arrays): not zeroed, unlike a vector
    std::size_t used = 0;
  };
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  std::vector<Block> blocks_;
  std::array<std::uint64_t, OFFWAIT_RECORD_IO + 1> counts_{};
  std::size_t bytes_ = 0;
};

/// Cumulative counters of one disk at one time, from /proc/diskstats.
struct DiskCounters {
  std::uint32_t dev = 0;  ///< as offwait_io::dev
  Nanos at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
};

struct KernelRecording {
  Window window;
  RecordBuffer records;
  std::vector<std::pair<std::uint32_t, offwait_thread>>
      threads;  ///< by tid: what was left in the kernel at the end
  std::unordered_map<std::uint32_t, offwait_stack> stacks;
  std::map<std::uint32_t, std::string> nics;        ///< interface index → name
  std::map<std::uint32_t, std::string> interrupts;  ///< interrupt number → its handlers' names
  std::map<std::uint32_t, std::string> disks;       ///< dev → name
  std::vector<DiskCounters> disk_counters;          ///< in order of time
  LossCounts loss;
};

template <class Visitor>
void RecordBuffer::for_each(Visitor&& visit) const {
  for (const Block& block : blocks_) {
    for (std::size_t at = 0; at < block.used;) {
      const std::byte* record = block.data.get() + at;
      const auto type = static_cast<std::uint8_t>(*record);
      // append() copies only whole records, each at a multiple of their alignment.
      switch (type) {
        case OFFWAIT_RECORD_WAIT:
          visit(*reinterpret_cast<const offwait_wait*>(record));
          break;
        case OFFWAIT_RECORD_PREEMPTION:
          visit(*reinterpret_cast<const offwait_preemption*>(record));
          break;
        case OFFWAIT_RECORD_GAP:
          visit(*reinterpret_cast<const offwait_gap*>(record));
          break;
        case OFFWAIT_RECORD_THREAD:
          visit(*reinterpret_cast<const offwait_thread_record*>(record));
          break;
        case OFFWAIT_RECORD_IO:
          visit(*reinterpret_cast<const offwait_io*>(record));
          break;
        default:
          break;
      }
      at += record_size(type);
    }
  }
}

}  // namespace offwait
