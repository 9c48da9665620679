// SPDX-License-Identifier: GPL-2.0-or-later
// A recording session, from the user's options to a trace with names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "model/trace.h"
#include "process/half_of_a_cpu.h"
#include "session/recording_options.h"

namespace offwait {

struct Recorded {
  Trace trace;
  std::vector<std::string> notes;     ///< sentences that the user should read; hostile bytes
  std::optional<int> command_status;  ///< for a command: the exit status for offwait
  /// It keeps what is made of a live recording from starving. Null for any other trace.
  std::unique_ptr<HalfOfACpu> half_of_a_cpu{};
};

/// Records the target as RunningRecording::record_into() does (session/running_recording.h). Everything that
/// can be checked in advance is checked before the recording begins, and fails with an Error then. Progress
/// is shown on standard error if that is a terminal and `quiet` is off, and not for a command, because it may
/// write to the terminal itself.
Result<Recorded> record(const RecordingOptions& options);

/// Where and how a recording is stored.
struct StoringOptions {
  UniqueFd file;     ///< emptied when the recording begins
  std::string name;  ///< what errors call it
  std::vector<Label> labels;
  std::vector<std::string> command_line;  ///< offwait's own
  bool symbols = true;                    ///< false: modules and offsets in place of the names of functions
};

struct Stored {
  std::vector<std::string> notes;     ///< as in Recorded
  std::optional<int> command_status;  ///< as in Recorded
  std::uint64_t waits = 0;
  std::uint64_t bytes = 0;  ///< size of the file
  Nanos window_ns = 0;
};

/// The same, but writes a recording file (recording_file/format.h) and analyses nothing. What was recorded is
/// on the disk a second later, so memory does not grow with the recording. If it cannot be written, the
/// recording ends with that error, and the file has what was written before.
Result<Stored> record_to_file(const RecordingOptions& options, StoringOptions storing);

}  // namespace offwait
