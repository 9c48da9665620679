// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that were still blocked at the window's end, and which of them are deadlocked.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

struct OpenWaits {
  std::vector<FoundOpenWait> waits;  ///< longest first
  std::vector<Deadlock> deadlocks;   ///< in order of their smallest tid
};

/// A thread that died in its wait is not blocked any more, and is left out.
OpenWaits find_open_waits(const Prepared& prepared, const WaitGraph& graph);

}  // namespace offwait
