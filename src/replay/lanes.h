// SPDX-License-Identifier: GPL-2.0-or-later
// Replays a recording under many scenarios at once, one lane each: what was recorded happens in the recorded
// order, and each thread reaches it at a new time. Of threads that wait for the same, the first one goes
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/histories.h"
#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/disk_channels.h"
#include "replay/replayed.h"
#include "replay/scenario.h"
#include "replay/ties.h"
#include "replay/usable_cpus.h"
#include "replay/waits_for_sleepers.h"

namespace offwait {

/// What a replay is made of; the values outlive it.
struct ReplayInput {
  const Trace& trace;
  const ThreadGroups& groups;
  const WaitKinds& kinds;
  const Uses& uses;
  const std::vector<DiskChannels>& channels;  ///< disk_channels()
  const LockHolds& holds;
  const Histories& histories;
  const WaitsForSleepers& sleepers;
  const Ties& ties;
  UsableCpus cpus{};
  ActorId thread = kNoActor;   ///< that Replayed::thread is about; it exits in the window
  const Code* code = nullptr;  ///< what Change::code refers to; null if there is none
};

/// Replays the window, cut into `pieces` of equal length, under all `scenarios`.
/// A scenario without changes gives the recorded times. `Resource::cpus` changes nothing here: lanes know no
/// CPUs. A thread that appears in the window begins at the time of the one it follows (origins_of()).
///
/// The rules. A thread's running time is scaled by its group's change, what of it is in a function by that
/// function's, and what of it the thread ran while it held a lock by the lock's, like its waits for disks,
/// times and remote services at that time. A wait that a thread ended ends when that thread gets there
/// (Tie::follows), or lasts as long as its holder takes from where it was when the wait began, in proportion
/// to how often the two now meet (Tie::lasts), or takes as long as it did. No such wait gets longer than
/// Ties::longest(). A thread that gets there only after that changes times with one that waits for the same
/// (InOnePlace). Of a thread outside of the target nothing is known before the first wait that it ends:
/// that wait, if it is for a service, is scaled like one for a remote service. A request to a disk with a
/// known number of channels queues behind the group's earlier requests; the rest of its time is scaled. What
/// a thread collects (collected_waits()) was under way since the thread's last wait ended: all of that time
/// is scaled, and the thread waits for what is left of it. Also scaled is the part of a wait for a thread
/// below the devices that requests took (DiskPart). Waits for timers and remote services are scaled. Runnable
/// time stays; where the CPUs are short it shrinks by the part of all CPU time that was used, by other
/// programs as well, which a change saves.
///
/// Takes O(events × scenarios) time; parts of many scenarios are replayed side by side. Needs 4 bytes of
/// memory for each entry of the trace, 24 for each actor and scenario, 8 more for each piece and 8 if it
/// collects requests, 12 for each actor, 4 for each site, 64 for each group, and 32 for each channel of a
/// disk and group that uses it.
Replayed replay(const ReplayInput& input, const std::vector<Scenario>& scenarios, std::size_t pieces);

}  // namespace offwait
