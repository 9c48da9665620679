// SPDX-License-Identifier: GPL-2.0-or-later
// What each wait was for, which decides how a change elsewhere in the program would alter it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "progress/disk_parts.h"
#include "progress/locks.h"
#include "progress/services.h"
#include "progress/thread_groups.h"

namespace offwait {

enum class WaitKind : std::uint8_t {
  handover,  ///< another thread gave it what it waited for: an item, an answer, a signal, its exit
  lock,      ///< another thread released a lock that both need
  below,     ///< a thread that works for devices ended it (WaitKinds::below_devices)
  disk,
  remote,   ///< an interface brought an answer whose sender was not recorded, or could not be followed
  transit,  ///< an interface brought what a recorded thread had sent
  timer,
  unknown,
};

struct WaitKinds {
  std::vector<WaitKind> of_site;  ///< by SiteId
  std::vector<bool> guessed;      ///< by SiteId: no function's name tells whether it is a lock or a hand-over
  std::vector<bool> below_devices;   ///< by GroupId: kernel threads, and outside groups that hand over to
                                     ///< those and the target's disk waits only (FUSE servers)
  std::vector<DiskPart> disk_parts;  ///< of the waits of kind `below`
  Services services;                 ///< that the target asks
  ContendedLocks locks;              ///< that threads waited for
};

/// The wait's class and the names of its functions tell locks from hand-overs. Where no name tells, a futex
/// is a lock of the waiting group if that group's threads both wait on it and end waits on it.
WaitKinds kinds_of_waits(const Trace& trace, const ThreadGroups& groups);

}  // namespace offwait
