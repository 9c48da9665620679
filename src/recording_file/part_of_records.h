// SPDX-License-Identifier: GPL-2.0-or-later
// The records of a recording that matter to a part of it. All others are decoded and forgotten, so that
// memory is taken for the part alone. Sections are not skipped by their headers, because the births and exits
// of threads are in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/nanos.h"
#include "event/recording.h"
#include "model/trace.h"
#include "recording_file/stored_records.h"

namespace offwait {

/// The records of threads, without those of lives that ended before a window or began after it.
class LivesOfPart {
 public:
  explicit LivesOfPart(const Window& window) : window_(window) {}

  /// Records come in their order. True if the thread's life is over and was forgotten.
  bool add(const offwait_thread_record& record);
  void append_to(RecordBuffer& records) const;

 private:
  struct Life {
    std::vector<std::uint64_t> records;  ///< keys of `records_`
    Nanos begin = 0;
    bool ends_another = false;  ///< the exit of the tid's owner before was lost, and its birth tells of it
  };

  const Window window_;
  std::map<std::uint64_t, offwait_thread_record> records_;  ///< by their place in the recording
  std::uint64_t next_ = 0;
  std::unordered_map<std::uint32_t, Life> alive_;  ///< by tid
};

/// Keeps records for a trace of the whole recording that is cut to a part: cut_to() (model/cut.h) makes the
/// same of it as of the trace of all records. These are: the records that overlap `kept`; of each thread the
/// last interval before that and the first one after it, since they tell when an end was lost; the first wait
/// of the command that was run for the recording; and the threads that lived meanwhile. What begins a moment
/// before the part tells who ended its first waits, so `kept` should be longer than the part.
class PartOfRecords {
 public:
  /// `command` as AboutRecording::command. The records, and the devices of those that are left out, go to
  /// `recording`, which must outlive this.
  PartOfRecords(const Window& kept, std::int32_t command, KernelRecording& recording)
      : kept_(kept), command_(command), recording_(recording), lives_(kept) {}

  /// Adds the records of the next section, as add_records() does.
  bool add(SectionKind kind, std::string_view content, std::string_view architecture);
  /// To be called after the last section.
  void finish();

 private:
  /// A record of the kernel of any type.
  using Bytes = std::vector<std::byte>;
  /// What is known of a key of the section that is being read.
  struct OfKey {
    std::uint32_t last_before =
        kNone;              ///< index of its last interval before `kept_`, if that is not held yet
    bool appended = false;  ///< all that was held of its thread
    bool is_after = false;  ///< an interval after `kept_` is held of its thread
    bool left_out = false;  ///< some of its intervals are
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bool add_interval(const StoredRecords& stored, std::size_t index);
  bool add_other(std::string_view fields, std::uint8_t type);
  void add(const offwait_thread_record& record);
  void add(const offwait_gap& record);
  void add(const offwait_spin& record);
  void add(const offwait_false_mark& record);
  void hold(const StoredInterval& interval);
  /// Holds the last intervals before `kept_` so far.
  void hold_last(const StoredRecords& stored);
  /// Notes the devices that ended waits which were left out.
  void note_devices(const StoredRecords& stored);
  void append_held(std::uint32_t tid);
  void append(const auto& record);

  const Window kept_;
  const std::int32_t command_;
  KernelRecording& recording_;
  LivesOfPart lives_;
  std::unordered_map<std::uint32_t, Bytes> before_;  ///< by tid: its last interval before `kept_`
  std::unordered_map<std::uint32_t, Bytes> after_;   ///< by tid: its first interval after `kept_`
  // The section that is being read has these:
  std::vector<OfKey> of_keys_;
  std::unordered_map<std::uint32_t, std::uint32_t>
      forgotten_;           ///< by tid: intervals before the end of a life
  std::uint32_t read_ = 0;  ///< intervals so far
  bool some_kept_ = false;
};

}  // namespace offwait
