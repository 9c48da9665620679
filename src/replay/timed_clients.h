// SPDX-License-Identifier: GPL-2.0-or-later
// Clients that send requests at times of their own.
#pragma once

#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// By GroupId: whether threads outside of the target that wait for the group wait for times in the same place
/// as for its responses, such as in an event loop that has a delay after each response, for more than a
/// tenth of their lives. They serve several connections, and each delay has its own beginning: sooner
/// responses leave such a thread the longer to wait.
std::vector<bool> have_timed_clients(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                     const Uses& uses);

}  // namespace offwait
