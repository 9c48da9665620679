// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/trace.h"
#include "recording_file/named_recording.h"

namespace offwait {

struct ReadRecording {
  NamedRecording recording;
  /// Why the recording is not complete, as `it ends inside a section`; none if it is.
  std::optional<std::string> interrupted;
};

/// Reads a recording file (format.h) to its end. `head` has bytes that were already read from `fd`, the first
/// ones of the file. Of a file that was cut or damaged, all up to the last whole section counts. Fails for
/// what is no recording, has another version or is nothing of a recording yet. Errors begin with `name` as it
/// is: the caller makes it fit for display. With `kept` only the records are kept that matter to a part of
/// this window (part_of_records.h); the tables are those of the whole recording all the same.
Result<ReadRecording> read_recording_file(int fd, std::string head, const std::string& name,
                                          const std::optional<Window>& kept = std::nullopt);

struct RecordedTime {
  Window window;
  std::string start_time;  ///< as in NamedRecording
};

/// When the whole recording was made by its tables, of a file that can be sought in. Records are skipped
/// unread, so that damage to them goes unnoticed.
Result<RecordedTime> time_of_recording_file(int fd, std::string head, const std::string& name);

}  // namespace offwait
