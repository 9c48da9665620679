// SPDX-License-Identifier: GPL-2.0-or-later
// The knots that were found, each with its pattern and the numbers that this was concluded from.
#pragma once

#include <optional>
#include <vector>

#include "analysis/findings.h"
#include "analysis/knot_input.h"
#include "analysis/wait_graph.h"
#include "analysis/wait_places.h"
#include "knot/knots.h"

namespace offwait {

/// In the order of `found`. `input` is what these were found in; `places` as of wait_places(), or empty: each
/// stack is then a place of its own; `machine_busy` as of machine_busy().
std::vector<FoundKnot> find_patterns(const WaitGraph& graph, const KnotInput& input,
                                     const std::vector<Knot>& found, const std::vector<WaitPlace>& places,
                                     std::optional<double> machine_busy);

/// What classify() is asked about a knot.
PatternKnot pattern_knot(const WaitGraph& graph, const Knot& knot, const std::vector<WaitPlace>& places);

}  // namespace offwait
