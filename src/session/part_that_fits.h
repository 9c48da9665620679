// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of a recording file can be analysed in the memory that there is: half of what is available, or
// --max-memory. The sizes of the sections of records tell before any is read, and the number of actors after
// that.
#pragma once

#include <cstdint>
#include <optional>

#include "base/nanos.h"
#include "model/trace.h"
#include "recording_file/read_recording_file.h"

namespace offwait {

/// More of the recording than a part of it is read: it tells who ended the part's first waits.
inline constexpr Nanos kReadAround = 2 * kSecond;

/// Bytes that a report takes for each actor of its trace.
inline constexpr double kMemoryOfActor = 2000;

/// The bytes of records that are read for a part. Between two marks they are taken as even.
double bytes_read(const RecordedSizes& sizes, const Window& part);

/// The latest part of `part`, which lies in the recording, whose report takes at most `memory` bytes; none if
/// there is no such part. These bytes are in proportion to the records that are read for it, and to the
/// number of actors in that many bytes of records.
std::optional<Window> part_that_fits(const RecordedSizes& sizes, const Window& part, std::uint64_t memory,
                                     double actors_of_byte = 0);

}  // namespace offwait
