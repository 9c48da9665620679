// SPDX-License-Identifier: GPL-2.0-or-later
// The last part of a recording that goes on for weeks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "capture/recording_source.h"
#include "event/recording.h"
#include "model/trace.h"
#include "process/address_spaces.h"
#include "recording_file/recording_writer.h"

namespace offwait {

/// Keeps what was recorded last, and what it refers to: the threads that lived then, and files. The window
/// begins where a part did that has counters, so it is longer than asked for by less than such parts are
/// apart. All is plain values.
class Flight {
 public:
  struct Limits {
    Nanos length = 60 * kSecond;
    std::size_t bytes = SIZE_MAX;  ///< of records; what is older is dropped
  };

  /// The recording begins at `begin`.
  Flight(Nanos begin, Limits limits) : limits_(limits) { before_.window = {begin, begin}; }

  /// Takes what RecordingSource::take() has returned: records, files and counters of devices. Of
  /// Taken::counters and Taken::tables (`has_counters`) what was counted is copied, and parts that are too
  /// old are dropped.
  void add(KernelRecording& taken, bool has_counters);
  /// Takes mappings that have changed, which a recording without names of functions needs.
  void add_mappings(const std::vector<AddressSpace>& changed);

  /// The window so far; it ends where the last part did.
  Window window() const {
    return {before_.window.end, parts_.empty() ? before_.window.end : parts_.back().end()};
  }
  /// Whether the window begins where the recording did.
  bool is_whole() const { return !dropped_; }
  /// Whether the window is shorter than asked for because its records would take too much memory.
  bool is_cut() const { return cut_at_ > 0 && cut_at_ > window().end - limits_.length; }
  /// What the records take of memory.
  std::size_t bytes() const { return bytes_; }
  /// Keeps no more than this from now on.
  void shorten(Nanos length);
  /// The ids of the stacks that the records refer to.
  std::set<std::uint32_t> stacks() const;

  /// Threads and processes that exited before the window and were not told by an earlier call.
  Exited take_exited() { return std::exchange(exited_, {}); }

  /// The window as parts of a recording, one of which has all tables: the last one, made of what
  /// RecordingSource::take(Taken::tables) returned together with what was added last, or
  /// RecordingSource::stop(). What it counts is that of the window only. Ends the flight.
  std::vector<RecordingPart> take(KernelRecording tables);

 private:
  struct Part {
    KernelRecording kernel;
    bool has_counters = false;
    std::vector<AddressSpace> mappings;

    Nanos end() const { return kernel.window.end; }
  };

  void count_lives(const RecordBuffer& records);
  void drop_first();
  void drop_old(Nanos end);
  /// What a record of a thread that is dropped leaves behind.
  void pass(const offwait_thread_record& record);
  void forget(const offwait_thread_record& thread);
  /// Forgets threads whose exit was lost.
  void forget_lost(const KernelRecording& taken);
  RecordingPart part_before() const;

  Limits limits_;
  std::deque<Part> parts_;
  std::size_t bytes_ = 0;
  bool dropped_ = false;
  Nanos cut_at_ = 0;  ///< the window's start when it was last moved because of memory

  // What came before the window:
  KernelRecording before_;  ///< files, the last counters of each device, and what was counted until its start
  std::map<std::uint32_t, offwait_thread_record>
      threads_;  ///< those that lived at its start, with their names
  std::map<std::int32_t, AddressSpace> mappings_;
  std::vector<AddressSpace> new_mappings_;  ///< of the next part

  std::unordered_map<std::int32_t, std::size_t> lives_;  ///< threads by process: in threads_, or born later
  std::map<ThreadKey, Nanos> missing_;  ///< threads that the kernel does not know, though they did not exit
  Exited exited_;
};

/// Adds what the tables of the flight's end lack for its records: their stacks, and what is still under way.
void complete(KernelRecording& tables, const Flight& flight, RecordingSource& source);
/// Writes what Flight::take() gave, and frees the records of each part.
Status write_parts(std::vector<RecordingPart>& parts, RecordingWriter& writer);

}  // namespace offwait
