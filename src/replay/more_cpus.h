// SPDX-License-Identifier: GPL-2.0-or-later
// Scenarios with another number of CPUs.
#pragma once

#include "replay/gain.h"
#include "replay/lanes.h"
#include "replay/scenario.h"

namespace offwait {

bool changes_cpus(const Scenario& scenario);

/// What lets threads use more CPUs: all CPUs of the machine if the target is pinned to busy ones while others
/// are free (UsableCpus::pinned_to) or if a quota was used up (UsableCpus::quota), else twice as many.
Change more_cpus(const UsableCpus& cpus);

/// Bounds the gain of a scenario with more CPUs; any other stays as it is. A gain of more CPUs is one that
/// may be less, and nothing tells how much: threads that shared a CPU never met at the locks at which they
/// would meet then. It is a bound, and no more than the changes can give: twice as many CPUs give twice the
/// progress at most.
///
/// Three kinds of CPU time are not simulated. A quota limits the time, and not how many threads run at once:
/// in a period in which it was used up, all of the progress may take the time that it gives. Other programs
/// that run on the CPUs may make way (fewer of them, priorities), and where they run on the CPUs of a pinned
/// target, it is not known which CPUs these may use. From them threads gain no more than the time in which
/// they queued, nor more than the CPU time that they can have. The function returns what is known of these
/// three, or 0.
double bound_more_cpus(const ReplayInput& input, const Scenario& scenario, Gain& gain);

}  // namespace offwait
