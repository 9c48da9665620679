// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "model/cut.h"
#include "session/read_recording.h"

namespace offwait::cli {

/// A recording to read: a file, the newest recording in a directory, or standard input for `-`. It is opened
/// before outputs are, so that a name with a mistake in it costs no file.
class Input {
 public:
  static Result<Input> open(const std::string& path);

  /// Fails if to write there would overwrite the recording before it is read.
  Status check_output(const std::string& path) const;
  /// Reads to the end, whatever form the recording has. The trace has only the given part, or as much of it
  /// as can be analysed in `max_memory` bytes. Errors name the file. A note says which file of a directory it
  /// is.
  Result<ReadTrace> read(const TracePart& part, std::uint64_t max_memory = kAnyMemory) const;
  /// How much of the file has been read so far, 0 to 1; nothing for what is no regular file, or is empty.
  /// Another thread may call it while this one reads.
  std::optional<double> part_read() const;
  /// Another program feeds it, which may write to the same terminal.
  bool is_fed() const { return !opened_ && !part_read(); }

  /// The path of the file; `standard input` for `-`.
  const std::string& name() const { return name_; }

 private:
  Input(UniqueFd opened, std::string name) : opened_(std::move(opened)), name_(std::move(name)) {}
  int descriptor() const;

  UniqueFd opened_;  ///< none: standard input
  std::string name_;
  std::optional<std::string> note_;
};

}  // namespace offwait::cli
