// SPDX-License-Identifier: GPL-2.0-or-later
// When in the window the waits of an edge took place.
#pragma once

#include <map>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// For edges with at least 5 % of the window as wait time, if their waits lie in few phases (graph/phases.h).
/// Idle edges of devices have none. One pass over the waits.
std::map<FoundEdgeId, FoundPhases> find_phases(const Prepared& prepared, const WaitGraph& graph);

}  // namespace offwait
