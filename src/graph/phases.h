// SPDX-License-Identifier: GPL-2.0-or-later
// When in the window waits took place: all the time, or in a few phases (a write stall, a checkpoint)?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// Most of the time that was waited lies in a small part of the window.
struct Phases {
  Nanos wait_ns = 0;           ///< waited within the ranges
  Nanos all_ns = 0;            ///< waited in the window
  Nanos length_ns = 0;         ///< of the ranges together
  std::vector<Window> ranges;  ///< in order of time; not empty, disjoint, whole hundredths of the window
};

/// Waits by hundredths of the window.
class WaitsOverTime {
 public:
  static constexpr std::size_t kParts = 100;
  static constexpr double kMost = 0.8;        ///< of the time waited lies in the phases,
  static constexpr std::size_t kFewest = 20;  ///< which are at most so many of the parts,
  static constexpr std::size_t kRanges = 3;   ///< in at most so many pieces

  /// The window is not empty.
  explicit WaitsOverTime(const Window& window);

  /// A wait, clipped to the window.
  void add(Nanos from, Nanos to);

  /// The fewest parts with kMost of the time, the fullest first (of equal ones the earlier), if they are as
  /// few and as close to each other as said above; with the neighbours that are more than half as full as
  /// the emptiest of them.
  std::optional<Phases> phases() const;

 private:
  Nanos start_of(std::size_t part) const;

  Window window_;
  std::vector<Nanos> waited_;  ///< by part
};

}  // namespace offwait
