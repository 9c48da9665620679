// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
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
/// is: the caller makes it fit for display.
Result<ReadRecording> read_recording_file(int fd, std::string head, const std::string& name);

}  // namespace offwait
