// SPDX-License-Identifier: GPL-2.0-or-later
// Measures how much a disk can do: threads read or write it past the page cache (O_DIRECT) as fast as it lets
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

/// An open device or file (with O_DIRECT) and the range of it that may be touched: [0, size).
struct Measured {
  int fd = -1;
  std::uint64_t size =
      0;             ///< bytes, at least kLargeBlock; the rest after the last whole block is not touched
  std::string name;  ///< for errors
};

enum class Direction : std::uint8_t { read, write };

/// Measures bytes/s with blocks of kLargeBlock in order, kLargeAtOnce at once, from the beginning again after
/// the end; then IO/s with blocks of kSmallBlock at random places, kSmallAtOnce at once. Each of the two
/// takes `each`, which includes flushing what was written. Blocks written hold random bytes. Ends early, with
/// an error, when `cancel` can be read from.
Result<Throughput> measure(const Measured& measured, Direction direction, Nanos each, int cancel);

/// Writes [0, size) once, in order, or as far as `longest` allows. Returns how many bytes were written, a
/// multiple of kLargeBlock.
Result<std::uint64_t> fill(const Measured& measured, Nanos longest, int cancel);

}  // namespace offwait
