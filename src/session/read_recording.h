// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cut.h"
#include "model/trace.h"

namespace offwait {

inline constexpr std::uint64_t kAnyMemory = UINT64_MAX;

struct ReadTrace {
  Trace trace;
  std::vector<std::string> notes;  ///< sentences that the user should read; hostile bytes
};

/// Reads a recording of either form from `fd` to its end: a recording file (recording_file/format.h) or the
/// text form of a trace (trace/text.h). Every command that reads recordings uses this. The trace has only the
/// given part. Errors and notes call the file `name`.
///
/// If a report of the part would take more memory than `max_memory`, the trace is of the latest part of it
/// that takes no more (part_that_fits.h), and a note says so. A trace in the text form is always whole.
Result<ReadTrace> read_recording(int fd, const std::string& name, const TracePart& part = {},
                                 std::uint64_t max_memory = kAnyMemory);

}  // namespace offwait
