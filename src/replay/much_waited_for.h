// SPDX-License-Identifier: GPL-2.0-or-later
// Which groups wait for much of their time for hand-overs of others.
#pragma once

#include <set>
#include <utility>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// Pairs of a waiting group and another one that hands it what it waits for, for more than a tenth of the
/// waiting group's life.
std::set<std::pair<GroupId, GroupId>> much_waited_for(const Trace& trace, const ThreadGroups& groups,
                                                      const WaitKinds& kinds, const Uses& uses);

}  // namespace offwait
