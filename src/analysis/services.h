// SPDX-License-Identifier: GPL-2.0-or-later
// A service that the target asks, in terms of the report's actors.
#pragma once

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// The service that the answer is about; nothing if it is about something else.
std::optional<FoundService> find_service(const Prepared& prepared, const WaitGraph& graph,
                                         const Answer& answer);

}  // namespace offwait
