// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of a recording as rows (format.h), and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "process/address_spaces.h"
#include "recording_file/format.h"
#include "recording_file/module_names.h"
#include "recording_file/named_recording.h"

namespace offwait {

/// Makes rows of tables. A row that the file has already is left out, so that a table may be added again and
/// again while it grows.
class RowWriter {
 public:
  void add(const AboutRecording& about);
  /// The stacks, files and counters of a recording, which are only ever added to.
  void add_new(const KernelRecording& kernel);
  /// The other tables of a recording, and its window last. A thread that was added before and is not there
  /// any more is gone; which CPUs it could use and what it ran stays in the file.
  void add_tables(const KernelRecording& kernel);
  void add(const std::vector<std::pair<std::uint32_t, offwait_stack>>& stacks);
  void add(const AddressSpace& space);
  /// The frames at addresses of the kernel.
  void add(const std::vector<FrameAddress>& addresses, const std::vector<std::vector<Frame>>& frames);
  void add(const NamedStacks& stacks);
  void add(const std::map<DataAddress, DataName>& data);
  void add(const KnownDevices& devices);
  /// Build ids of files by their paths.
  void add(const std::map<std::string, std::string>& build_ids);

  /// The contents of as many SectionKind::rows as the rows added since the last call take.
  std::vector<std::string> take_sections();

 private:
  /// Adds the row whose fields `fill` writes, if it differs from that with its key.
  template <class Fill>
  void row(Table table, Fill fill);
  /// The same for a row that is added only once.
  template <class Fill>
  void new_row(Table table, Fill fill);
  void add(std::uint32_t id, const offwait_stack& stack);
  void add_threads(const KernelRecording& kernel);
  void add_processes(const KernelRecording& kernel);
  void add_network(const KernelRecording& kernel);
  void add_host(const KernelRecording& kernel);
  void append_buffer();

  std::vector<std::string> sections_;
  std::unordered_map<std::string, std::size_t> known_;  ///< table and key → hash of the row
  std::set<std::uint32_t> threads_;                     ///< tids in Table::thread
  // As they were added last, since each thread that was recorded has a row:
  std::map<ThreadKey, CpuList> allowed_cpus_;
  RowsOfThreads<std::uint32_t> program_of_;
  std::string buffer_;
};

/// Collects rows.
class RowReader {
 public:
  /// False if the content is impossible. Rows before that count.
  bool add(std::string_view content);

  /// Whether the about row has been read.
  bool knows_about() const { return knows_about_; }
  bool has_window() const { return has_window_; }
  const AboutRecording& about() const { return recording_.about; }
  KernelRecording& kernel() { return recording_.kernel; }

  /// What was read. Stacks without names have those that follow from the mappings: a module and an offset in
  /// it. False if rows refer to rows that are not there.
  bool finish(NamedRecording& recording);

 private:
  bool add_row(Table table, std::string_view bytes);
  void add_mapping(class ByteReader& in);
  bool add_kernel_row(Table table, class ByteReader& in);
  bool add_device_row(Table table, class ByteReader& in);
  bool add_name_row(Table table, class ByteReader& in);
  bool finish_programs();
  bool finish_names();

  NamedRecording recording_;
  bool knows_about_ = false;
  bool has_window_ = false;
  std::map<std::uint32_t, offwait_thread> threads_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<offwait_responses_key, offwait_responses>>
      responses_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<offwait_calls_key, offwait_calls>> calls_;
  std::map<std::uint32_t, RunningProgram> programs_;
  std::map<std::uint32_t, Frame> frames_;
  std::vector<AddressSpace> mappings_;
  KernelFrames kernel_frames_;
};

}  // namespace offwait
