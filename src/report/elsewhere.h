// SPDX-License-Identifier: GPL-2.0-or-later
// Why a long wait is no part of the answer: people look for it, and ask.
#pragma once

#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// What becomes Report::elsewhere. Needs all of the rest of the report but false_wakeups and open_waits:
/// actors, edges, knots, sinks, the steps of the refinement, and the verdict's kind, as background knots are
/// the answer where there is no other. Devices' idle edges, and edges under the noise floor, are left out.
std::vector<ReportElsewhere> long_waits_elsewhere(const Report& report);

}  // namespace offwait
