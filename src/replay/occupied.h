// SPDX-License-Identifier: GPL-2.0-or-later
// For how long threads were doing what they are there for, rather than waiting for something to do.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// Where a group waits. A wait without a stack may be anywhere.
using GroupPlace = std::pair<GroupId, StackId>;
GroupPlace place_of(const ThreadGroups& groups, const WaitSite& site);

struct Occupied {
  /// The places in which clients end waits, as in an event loop. A thread waits there for whichever client
  /// comes first. The target is a client of the threads outside of it.
  std::set<GroupPlace> places_for_clients;
  /// By GroupId, summed over the group's threads: the time in the window in which they did something that
  /// more threads could do at the same time. They ran or were ready to run, slept, or waited for disks and
  /// for services. Waits for other threads and for locks are not counted, nor are those whose ends are not
  /// known, nor any wait in `places_for_clients`.
  std::vector<Nanos> ns;
  std::vector<Nanos> idle_ns;  ///< by ActorId: the waits of a thread that are left out
};
Occupied occupied_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                     const Uses& uses);

}  // namespace offwait
