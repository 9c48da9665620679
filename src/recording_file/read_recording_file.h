// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
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

/// What a recording has by the headers of its sections.
struct RecordedSizes {
  Window window;           ///< of the whole recording, by its tables
  std::string start_time;  ///< as in NamedRecording
  /// How many bytes of records, as they are stored but not compressed, the file has up to a time.
  struct Mark {
    Nanos until = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  std::vector<Mark> marks;  ///< one for each time at which the tables were written, in order of time
};

/// The file must be one that can be sought in. Records are skipped unread, so that damage to them goes
/// unnoticed.
Result<RecordedSizes> sizes_of_recording_file(int fd, std::string head, const std::string& name);

}  // namespace offwait
