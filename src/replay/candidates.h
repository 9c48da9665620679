// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a program, and of what is below it, that a change might make faster.
#pragma once

#include <cstddef>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "replay/scenario.h"

namespace offwait {

/// Each service that the target asks, each disk as a whole, and each group's CPU work, sleeps and requests to
/// each disk, each made twice as fast. The groups behind a service have no parts of their own, and
/// of those outside of the target only the ones that it waits for have, or that these wait for. Parts that
/// take under 0.5 % of the window, summed over all threads, are left out. At most `most` parts, the longest
/// first.
std::vector<Change> candidates_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                  const Uses& uses, std::size_t most);

}  // namespace offwait
