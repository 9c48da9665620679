// SPDX-License-Identifier: GPL-2.0-or-later
// How much a disk can do: threads that read or write it past the page cache (O_DIRECT) as fast as it lets
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/nanos.h"
#include "base/result.h"
#include "calibrate/calibration.h"

namespace offwait {

inline constexpr std::size_t kLargeBlock = std::size_t{1} << 20;
inline constexpr int kLargeAtOnce = 8;
inline constexpr std::size_t kSmallBlock = 4096;
inline constexpr int kSmallAtOnce = 32;

/// A device or file, open with O_DIRECT, and what may be touched of it: [0, size).
struct Measured {
  int fd = -1;
  std::uint64_t size = 0;  ///< at least kLargeBlock; what does not fill up a block is left out
  std::string name;        ///< for errors
};

enum class Direction : std::uint8_t { read, write };

/// Bytes/s of kLargeBlock in order, kLargeAtOnce at once, from the beginning again after the end; IO/s of
/// kSmallBlock anywhere, kSmallAtOnce at once. Each for `each`; what was written is flushed within the time
/// that counts. Blocks written are random bytes. Ends early, with an error, when `cancel` can be read from.
Result<Throughput> measure(const Measured& measured, Direction direction, Nanos each, int cancel);

/// Writes [0, size) once, in order, or as far as `longest` allows. What was written, a multiple of
/// kLargeBlock.
Result<std::uint64_t> fill(const Measured& measured, Nanos longest, int cancel);

}  // namespace offwait
