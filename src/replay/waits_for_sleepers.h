// SPDX-License-Identifier: GPL-2.0-or-later
// How long groups wait for others that sleep meanwhile. Shorter sleeps help those that wait for no more than
// that.
#pragma once

#include <map>
#include <utility>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// In the window.
struct WaitForSleeper {
  Nanos all_ns = 0;
  Nanos asleep_ns = 0;  ///< the part of it in which the thread that ended the wait was in waits for a time
  Nanos lives_ns = 0;   ///< of the threads that waited
  /// These threads' other waits that may be for threads: hand-overs, locks, and those not known what for.
  Nanos others_ns = 0;
};

/// By waiting group and the group that ended the waits, another one whose threads are in waits for a time for
/// more than a tenth of their lives. Hand-overs only.
using WaitsForSleepers = std::map<std::pair<GroupId, GroupId>, WaitForSleeper>;

WaitsForSleepers waits_for_sleepers_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                       const Uses& uses);

}  // namespace offwait
