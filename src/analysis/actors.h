// SPDX-License-Identifier: GPL-2.0-or-later
// Who took part, and what the target did in all.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// One for each vertex of the graph, with the same number.
std::vector<ReportActor> find_actors(const Prepared& prepared, const WaitGraph& graph);

/// Sums over all threads that were recorded, stand-ins left out.
ReportTotals sum_totals(const Prepared& prepared, const WaitGraph& graph);

ReportTime report_time(const ActorTime& time);

}  // namespace offwait
