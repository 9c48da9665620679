// SPDX-License-Identifier: GPL-2.0-or-later
// Clients that send requests at times of their own.
#pragma once

#include <set>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// By GroupId: the groups of threads outside of the target that wait for this one and, for more than a tenth
/// of their lives, for times in the same place as for its responses, as an event loop does that has a delay
/// after each response; empty if the delays are shorter. Such a thread serves several connections, and each
/// of these has its delays at times of its own: sooner responses leave the thread the longer to wait.
std::vector<std::set<GroupId>> timed_clients_of(const Trace& trace, const ThreadGroups& groups,
                                                const WaitKinds& kinds, const Uses& uses);

}  // namespace offwait
