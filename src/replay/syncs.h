// SPDX-License-Identifier: GPL-2.0-or-later
// Calls that make sure of what is on a disk (fsync and its like): each takes CPU time and waits for a disk,
// so that fewer of them may save both. One cause is one answer: the calls, half as long
// (AnswerOptions::syncs). Half as many gain as much only if each of them takes no longer than before, though
// it may have twice as much to write.
#pragma once

#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/code.h"
#include "replay/gain.h"
#include "replay/scenario.h"

namespace offwait {

/// What half of each part of these calls gains alone.
struct SyncGain {
  CodeId calls = kNoCode;
  Nanos ran_ns = 0;  ///< all threads, in these calls
  Gain cpu{};        ///< their CPU work
  Gain disk{};       ///< their waits for disks
};

/// The calls take half as long: all of it, their CPU work alone, and their waits for disks alone. Empty
/// without calls.
std::vector<Scenario> scenarios_of_syncs(CodeId calls);

/// Whether most of what the change makes shorter is in these calls: of a group's CPU work, or of the waits
/// for a disk. Never of any other change.
bool is_mostly_in(const Change& change, const CodePart& calls, const Trace& trace, const ThreadGroups& groups,
                  const WaitKinds& kinds, const Uses& uses);

}  // namespace offwait
