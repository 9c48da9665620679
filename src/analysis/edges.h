// SPDX-License-Identifier: GPL-2.0-or-later
// The edges of the wait graph with everything that is told of them.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// One for each edge of the graph, with the same number.
std::vector<FoundEdge> find_edges(const Prepared& prepared, const WaitGraph& graph);

}  // namespace offwait
