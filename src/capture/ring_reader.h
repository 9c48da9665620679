// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the records of BPF ring buffers where they are, those of all CPUs in order of time. libbpf reads one
// ring buffer to its end before the next. All is plain memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/nanos.h"

namespace offwait {

/// A ring buffer as the kernel shows it to user space (kernel/bpf/ringbuf.c).
struct RingMemory {
  std::uint64_t* consumed = nullptr;        ///< how many bytes its reader has released
  const std::uint64_t* produced = nullptr;  ///< how many bytes its writers have reserved
  const std::byte* data = nullptr;          ///< twice in a row, so that no record is in two pieces
  std::size_t bytes = 0;                    ///< of `data` once, a power of two
};

/// The reader of one ring buffer. Records are those of offwait/event.h.
class RingReader {
 public:
  enum class Next { record, none, unfinished };

  explicit RingReader(const RingMemory& memory);

  /// Until the next call, only what writers have reserved by now is read.
  void begin();

  /// Whether there is a next record, or a record that its writer has not finished. Finishing takes a fraction
  /// of a microsecond, which this function waits for, unless the writer was interrupted.
  Next look();

  /// After look() returned `record`: its bytes, valid until release(), and a time that is neither later than
  /// its emission nor earlier than that of the record before it: its own, if it has one.
  std::span<const std::byte> record() const { return record_; }
  Nanos time() const { return time_; }

  /// Goes on to the next one.
  void pass();

  /// Gives the room of all records that were passed back to the writers.
  void release();

 private:
  RingMemory memory_;
  std::uint64_t at_;
  std::uint64_t end_;
  Nanos time_ = 0;
  std::span<const std::byte> record_;
};

using RecordTaker = void (*)(void* context, std::span<const std::byte> record);

/// Takes the records of all rings in order of their times, as far as these are not later than `until`, which
/// is a reading of the clock from before the call. Later ones stay for the next call.
///
/// Records of one thread come in the order of their emission, and after the record that it was born or seen,
/// through whichever rings they come: a thread's next record is begun after the one before was emitted, so it
/// is later than the times in the ring of that one. If it was emitted before `until`, the other had been
/// before as well, and is taken first. Where a writer is not done, what other records lie behind its own is
/// not known: all that would come after it stays.
void take_in_order(std::span<RingReader> rings, Nanos until, RecordTaker taker, void* context);

}  // namespace offwait
