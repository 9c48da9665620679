// SPDX-License-Identifier: GPL-2.0-or-later
// What disks and network interfaces did in the window, and how many wakeups were in vain.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

std::vector<FoundDisk> find_disks(const Prepared& prepared, const WaitGraph& graph);
std::vector<FoundNic> find_nics(const Prepared& prepared, const WaitGraph& graph);

/// `removed`: false wakeups were removed from the trace (they are, unless AnalysisOptions::keep_false_wakeups
/// is set).
FoundFalseWakeups find_false_wakeups_by_edge(const Prepared& prepared, const WaitGraph& graph, bool removed);

}  // namespace offwait
