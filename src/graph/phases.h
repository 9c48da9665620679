// SPDX-License-Identifier: GPL-2.0-or-later
// The times of waits in the window: all the time, or in a few phases, such as a write stall or a checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// A small part of the window that has most of the wait time.
struct Phases {
  Nanos wait_ns = 0;           ///< wait time within the ranges
  Nanos all_ns = 0;            ///< wait time in the window
  Nanos length_ns = 0;         ///< total length of the ranges
  std::vector<Window> ranges;  ///< in order of time; not empty, disjoint, whole hundredths of the window
};

/// Waits by hundredths of the window.
class WaitsOverTime {
 public:
  static constexpr std::size_t kParts = 100;
  static constexpr double kMost = 0.8;        ///< share of the wait time that phases must have
  static constexpr std::size_t kFewest = 20;  ///< most parts that phases may have
  static constexpr std::size_t kRanges = 3;   ///< most ranges that phases may have

  /// The window is not empty.
  explicit WaitsOverTime(const Window& window);

  /// Adds a wait, clipped to the window.
  void add(Nanos from, Nanos to);

  /// The phases, if there are any. They consist of the fewest parts that have kMost of the wait time, taken
  /// from the fullest on (of equal ones the earlier first), and of neighbours that are more than half as full
  /// as the emptiest of these. Nothing if there are more than kFewest parts or kRanges ranges.
  std::optional<Phases> phases() const;

 private:
  Window window_;
  std::vector<Nanos> starts_;  ///< of the parts, and the end of the last
  std::vector<Nanos> waited_;  ///< by part
};

}  // namespace offwait
