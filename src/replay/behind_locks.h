// SPDX-License-Identifier: GPL-2.0-or-later
// How long threads wait for a lock, or behind others that do.
#pragma once

#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/lock_holds.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// By LockId, then by GroupId: the part of the group's life, 0 to 1, in which its threads waited for the lock
/// and until they ran again, or waited for a thread that did so at that time, and so on. Of very many waits
/// the first ones tell.
std::vector<std::vector<double>> behind_locks(const Trace& trace, const ThreadGroups& groups,
                                              const WaitKinds& kinds, const Uses& uses,
                                              const LockHolds& holds);

}  // namespace offwait
