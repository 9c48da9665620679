// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a recording file while it is recorded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "event/recording.h"
#include "process/address_spaces.h"
#include "recording_file/named_recording.h"
#include "recording_file/records.h"
#include "recording_file/sections.h"
#include "recording_file/tables.h"

namespace offwait {

/// What was recorded since the part before.
struct RecordingPart {
  KernelRecording kernel;  ///< records, counters and files that are new; all of the tables, if it has them
  bool has_tables = false;
  std::vector<AddressSpace> mappings;  ///< that have changed
  std::vector<std::int32_t> gone{};    ///< processes that have ended; if there are any, it has tables
};

/// Encodes, compresses and writes in a thread of its own, so that the thread that drains the kernel's buffers
/// does not wait for a disk. Each part is on the disk before the next one is begun.
class RecordingWriter {
 public:
  /// Reads stacks of the kernel by their ids. It is called in the writer's thread.
  using StackSource =
      std::function<std::vector<std::pair<std::uint32_t, offwait_stack>>(std::span<const std::uint32_t>)>;

  /// The frames at each of these addresses of the kernel, none for one that is left out together with all
  /// that it called. It is called in the writer's thread, and after stop() in the caller's.
  using KernelNames = std::function<std::vector<std::vector<Frame>>(const std::vector<FrameAddress>&)>;

  /// Writes to `file`; `name` is what errors call it.
  RecordingWriter(UniqueFd file, std::string name);
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;
  ~RecordingWriter();

  // To be called in this order:

  /// Empties the file and writes what is known before the recording begins.
  Status begin(const AboutRecording& about);
  /// Without this, all stacks are those of the parts, and functions of the kernel have no names until
  /// finish().
  void read_with(StackSource stacks, KernelNames kernel_names);
  /// Starts the thread.
  void start();
  /// Hands over a part. Waits while more than kMostWaiting bytes of records wait to be written; the kernel
  /// then counts what it loses. After an error it does nothing.
  void add(RecordingPart part);
  /// The processes of RecordingPart::gone, of the parts written since the last call, whose mappings name
  /// nothing in the file.
  std::vector<std::int32_t> take_nameless();
  /// Whether writing has failed. Then what is handed over is lost, and stop() has the reason.
  bool failed() const;
  /// Writes what waits and ends the thread.
  Status stop();
  /// Writes the last part, which has all tables. Without finish() the file is then an interrupted recording
  /// that lacks nothing but names.
  Status write(const RecordingPart& part);
  /// In place of names: the build ids of the target's files by their paths in the mappings, in hexadecimal
  /// digits.
  void add_build_ids(const std::map<std::string, std::string>& ids) { rows_.add(ids); }
  /// Writes the names, and that the recording is complete.
  Status finish(const NamedStacks& stacks, const std::map<DataAddress, DataName>& data,
                const KnownDevices& devices);

  /// What the written parts refer to. Must not be called while the thread runs.
  const RecordReferences& references() const { return references_; }
  /// The number of waits and the size of the file so far. Must not be called while the thread runs.
  std::uint64_t waits() const { return waits_; }
  std::uint64_t size() const { return sections_.size(); }

 private:
  void run();
  Status write_rows();
  /// The stacks that the last records refer to and that are not in the file yet.
  std::vector<std::pair<std::uint32_t, offwait_stack>> new_stacks();
  /// Addresses of the kernel mean nothing elsewhere, so that their names are stored with them.
  void add_kernel_names(const offwait_stack& stack, std::vector<FrameAddress>& nameless);
  /// Whether something that was written is named by the mappings of the process.
  bool needs(std::int32_t tgid) const;

  UniqueFd file_;
  std::string name_;
  SectionWriter sections_;
  RowWriter rows_;
  StackSource stacks_;
  KernelNames kernel_names_;
  std::set<FrameAddress> named_;  ///< addresses of the kernel
  std::unordered_set<std::uint32_t> asked_stacks_;
  std::unordered_set<std::uint32_t> stack_processes_;  ///< of the stacks that were read
  RecordReferences references_;
  std::uint64_t waits_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RecordingPart> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<std::int32_t> nameless_;  ///< processes
  bool ends_ = false;
  std::optional<Error> error_;
  std::thread thread_;
};

}  // namespace offwait
