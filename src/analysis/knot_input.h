// SPDX-License-Identifier: GPL-2.0-or-later
// What the search for knots (knot/knots.h) is given: the wait graph as numbers.
#pragma once

#include <vector>

#include "analysis/options.h"
#include "analysis/prepare.h"
#include "analysis/remote_services.h"
#include "analysis/wait_graph.h"
#include "knot/knots.h"

namespace offwait {

struct KnotInput {
  std::vector<KnotVertex> vertices;  ///< by vertex of the graph
  std::vector<KnotEdge> edges;       ///< by edge of the graph
  KnotOptions options;
};

/// `remote`: by vertex, as of find_remote_services().
KnotInput knot_input(const Prepared& prepared, const WaitGraph& graph,
                     const std::vector<RemoteServices>& remote, const AnalysisOptions& options);

}  // namespace offwait
