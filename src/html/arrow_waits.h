// SPDX-License-Identifier: GPL-2.0-or-later
// The single waits behind an arrow of the graph: how long they are, when they were, and what they were for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/drawn_graph.h"
#include "analysis/findings.h"
#include "base/nanos.h"
#include "html/rows.h"
#include "model/histories.h"
#include "model/trace.h"

namespace offwait::html {

inline constexpr std::size_t kLengths = 36;  ///< the last one is an hour and more
inline constexpr std::size_t kParts = 256;   ///< of the window
inline constexpr std::size_t kMostLongest = 5;
inline constexpr std::size_t kMostObjects = 6;

struct LongWait {
  std::uint32_t row = 0;
  Nanos begin = 0;
  Nanos wake = 0;
};

struct ArrowWaits {
  /// Waits that are at least 2^i µs and less than 2^(i+1) µs long; the first also has shorter ones.
  std::array<std::uint64_t, kLengths> counts{};
  std::array<double, kLengths> seconds{};
  std::vector<double> over_time = std::vector<double>(kParts);  ///< seconds waited in each part of the window
  std::vector<LongWait> longest{};  ///< longest first, at most kMostLongest, of threads that have a row
  /// What was waited for and for how long: locks and files by name (hostile bytes), the longest first, at
  /// most kMostObjects.
  std::vector<std::pair<std::string, double>> objects{};
};

/// By index into DrawnGraph::arrows; empty for idle ones. Plain sums over all threads of an arrow, clipped to
/// the window; the seconds are not divided by the threads of a group.
std::vector<ArrowWaits> arrow_waits(const Trace& trace, const Histories& histories, const Findings& findings,
                                    const DrawnGraph& graph, const Rows& rows);

}  // namespace offwait::html
