// SPDX-License-Identifier: GPL-2.0-or-later
// Why a long wait is no part of the answer: people look for it, and ask.
#pragma once

#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// What becomes Findings::excluded_waits. Needs the findings' actors, edges, knots, sinks and refinement, and
/// the verdict, as background knots are the answer where there is no other. Devices' idle edges, and edges
/// under the noise floor, are left out.
std::vector<ExcludedWait> find_excluded_waits(const Findings& findings);

}  // namespace offwait
