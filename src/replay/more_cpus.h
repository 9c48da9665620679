// SPDX-License-Identifier: GPL-2.0-or-later
// Scenarios with another number of CPUs.
#pragma once

#include "model/trace.h"
#include "replay/answers.h"
#include "replay/scenario.h"

namespace offwait {

bool changes_cpus(const Scenario& scenario);

/// Bounds the gain of a scenario with more CPUs; any other stays as it is. A gain of more CPUs is one that
/// may be less, and nothing tells how much: threads that shared a CPU never met at the locks at which they
/// would meet then. It is a bound, and no more than the changes can give: twice as many CPUs twice the
/// progress. A quota limits the time, and not how many run at once: in a period in which it was used up, all
/// of the progress may take the time that it gives.
void bound_more_cpus(const Trace& trace, const Scenario& scenario, Gain& gain);

}  // namespace offwait
