// SPDX-License-Identifier: GPL-2.0-or-later
// The actors of a recording, and the sums of what the target did.
#pragma once

#include <string>
#include <vector>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// One for each vertex of the graph, with the same number.
std::vector<FoundActor> find_actors(const Prepared& prepared, const WaitGraph& graph);

/// Sums over all threads that were recorded, stand-ins left out.
Totals sum_totals(const Prepared& prepared, const WaitGraph& graph);

StateSeconds state_seconds(const ActorTime& time);

/// The name of threads that are called alike, with `*` for each run of digits in which their names differ.
/// Should they differ in more, that of the first one.
std::string common_name(const Trace& trace, const std::vector<ActorId>& members);

}  // namespace offwait
