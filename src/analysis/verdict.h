// SPDX-License-Identifier: GPL-2.0-or-later
// The answer as a value: which rule holds, and the numbers that a sentence about it needs.
#pragma once

#include <optional>

#include "analysis/findings.h"
#include "analysis/knot_input.h"
#include "analysis/wait_graph.h"
#include "knot/knots.h"

namespace offwait {

/// The longest edge of waits for requests from outside of the target, if these are long enough to be the
/// answer where there is no other: an actor of the target waits for --min-weight or more; where there are
/// background knots, also for more than any of them weighs, and for half of the window.
std::optional<FoundEdgeId> waits_for_requests(const WaitGraph& graph, const KnotInput& input,
                                              const std::vector<Knot>& knots);

/// What becomes Findings::verdict. Needs the findings' recording, totals, actors, edges, knots and sinks.
Verdict find_verdict(const Findings& findings, std::optional<FoundEdgeId> requests);

}  // namespace offwait
