// SPDX-License-Identifier: GPL-2.0-or-later
// The slow, obvious search for knots: components by reachability of every pair, refinement by dropping
// one edge at a time. Shares nothing with src/knot but the types of its result.
#pragma once

#include <vector>

#include "knot/knots.h"

namespace offwait::reference {

/// The same result as offwait::find_knots, except for the order of the steps.
KnotResult brute_force_knots(const std::vector<KnotVertex>& vertices, const std::vector<KnotEdge>& edges,
                             const KnotOptions& options);

}  // namespace offwait::reference
