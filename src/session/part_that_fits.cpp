// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/part_that_fits.h"

#include <algorithm>

namespace offwait {
namespace {

/// What a report takes, however short the recording is: names, tables, and the program itself.
constexpr double kLeastMemory = 48e6;
/// What it takes for each byte of records: 1.5 to 1.8 were measured for waits, and 2 for threads in relays.
constexpr double kMemoryOfByte = 2.2;
/// Parts begin at multiples of this before their end.
constexpr Nanos kStep = kSecond / 10;

/// The line through the marks, and through the recording's start.
class Line {
 public:
  explicit Line(const RecordedSizes& sizes) : sizes_(sizes) {}

  double bytes_until(Nanos time) const {
    Nanos from = sizes_.window.begin;
    double before = 0;
    for (const RecordedSizes::Mark& mark : sizes_.marks) {
      const auto bytes = static_cast<double>(mark.bytes);
      if (time <= mark.until) return before + (bytes - before) * share(from, mark.until, time);
      from = mark.until;
      before = bytes;
    }
    return before;
  }

  /// The first time by which there are this many bytes.
  Nanos time_of(double wanted) const {
    Nanos from = sizes_.window.begin;
    double before = 0;
    for (const RecordedSizes::Mark& mark : sizes_.marks) {
      const auto bytes = static_cast<double>(mark.bytes);
      if (wanted <= bytes) {
        const double part = bytes > before ? std::max(0.0, (wanted - before) / (bytes - before)) : 0;
        return from + static_cast<Nanos>(part * static_cast<double>(mark.until - from));
      }
      from = mark.until;
      before = bytes;
    }
    return from;
  }

 private:
  static double share(Nanos from, Nanos to, Nanos time) {
    if (time <= from || to <= from) return 0;
    return static_cast<double>(time - from) / static_cast<double>(to - from);
  }

  const RecordedSizes& sizes_;
};

}  // namespace

double bytes_read(const RecordedSizes& sizes, const Window& part) {
  const Line line(sizes);
  return line.bytes_until(part.end + kReadAround) - line.bytes_until(part.begin - kReadAround);
}

std::optional<Window> part_that_fits(const RecordedSizes& sizes, const Window& part, std::uint64_t memory,
                                     double actors_of_byte) {
  const double most =
      (static_cast<double>(memory) - kLeastMemory) / (kMemoryOfByte + kMemoryOfActor * actors_of_byte);
  if (most < 0) return std::nullopt;
  if (bytes_read(sizes, part) <= most) return part;
  const Line line(sizes);
  const Nanos begin = line.time_of(line.bytes_until(part.end + kReadAround) - most) + kReadAround;
  const Nanos length = (part.end - begin) / kStep * kStep;
  if (begin >= part.end || length <= 0) return std::nullopt;
  return Window{part.end - length, part.end};
}

}  // namespace offwait
