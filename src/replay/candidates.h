// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a program, and of what is below it, that a change might make faster.
#pragma once

#include <cstddef>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "replay/scenario.h"

namespace offwait {

/// Each group's CPU work, sleeps, requests to each disk and waits for remote services, and each disk as a
/// whole, each made twice as fast. Parts that take under 0.5 % of the window, summed over all threads, are
/// left out. At most `most` parts, the longest first.
std::vector<Change> candidates_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                  const Uses& uses, std::size_t most);

}  // namespace offwait
