// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads have a row in the timeline, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/drawn_graph.h"
#include "analysis/findings.h"
#include "model/trace.h"

namespace offwait::html {

inline constexpr std::size_t kMostRows = 1024;
inline constexpr std::uint32_t kNoRow = UINT32_MAX;

struct Rows {
  std::vector<ActorId> threads;   ///< by row
  std::vector<std::uint32_t> of;  ///< by ActorId; kNoRow: it has none
  std::size_t left_out = 0;       ///< threads of the target that have none, because there are too many
};

/// The target's threads, and those outside of it that are in boxes that are drawn first; kMostRows at most.
/// Threads of one actor stand together. Actors come in the order of their boxes, then by the time that they
/// did not sleep. Threads that did not live in the window have no row.
Rows rows_of(const Trace& trace, const Findings& findings, const DrawnGraph& graph);

}  // namespace offwait::html
