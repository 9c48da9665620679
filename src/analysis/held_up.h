// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// By FoundEdgeId: whether its waits hold something up, as far as is known. Waits for a time, for requests
/// from outside and of threads that nothing waits for do not, nor do those in the background; but clients
/// that wait for the target do, though nothing in it waits for them. Every edge of a knot that limits does.
std::vector<bool> edges_that_hold_up(const Findings& findings);

}  // namespace offwait
