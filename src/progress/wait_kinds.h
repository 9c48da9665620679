// SPDX-License-Identifier: GPL-2.0-or-later
// What each wait was for, which decides how a change elsewhere in the program would alter it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace.h"
#include "progress/collected_waits.h"
#include "progress/disk_parts.h"
#include "progress/locks.h"
#include "progress/pauses.h"
#include "progress/services.h"
#include "progress/sleep_paces.h"
#include "progress/thread_groups.h"
#include "progress/time_outs.h"

namespace offwait {

enum class WaitKind : std::uint8_t {
  handover,  ///< another thread gave it what it waited for: an item, an answer, a signal, its exit
  lock,      ///< another thread released a lock that both need
  below,     ///< a thread that works for devices ended it (WaitKinds::below_devices)
  disk,
  remote,   ///< an interface brought an answer whose sender was not recorded, or could not be followed
  transit,  ///< an interface brought what a recorded thread had sent, at once or after TCP had held it back;
            ///< also the target's answer to its client
  timer,    ///< a time that the thread asked for
  throttled,  ///< a sleep until a thread of another group is less behind (SleepPace::thread)
  looked,     ///< for a lock, until the thread looked after a time and found it free
  paused,     ///< the kernel held it back (progress/pauses.h)
  stopped,    ///< nothing: a signal, a debugger or its cgroup kept it from running
  unknown,    ///< also a sleep between looks for something (polling_sites()), and a time-out after which the
              ///< thread found what others had let go, if that is no lock
};

struct WaitKinds {
  std::vector<WaitKind> of_site;  ///< by SiteId
  std::vector<bool> guessed;      ///< by SiteId: no function's name tells whether it is a lock or a hand-over
  std::vector<bool> below_devices;   ///< by GroupId: kernel threads, and outside groups that hand over to
                                     ///< those and the target's disk waits only (FUSE servers)
  std::vector<DiskPart> disk_parts;  ///< of the waits of kind `below`, and `paused` above a disk
  Services services;                 ///< that the target asks
  ContendedLocks locks;              ///< that threads waited for
  /// By the wait's index, of kind `looked`: the thread that had got the lock last before. It let it go
  /// unseen, unless a third one took it that did not have to wait.
  std::unordered_map<std::uint32_t, ActorId> had_before;
  TimeOuts time_outs;           ///< of kind `timer`, but parts of other waits
  SleepPaces sleeps;            ///< of waits of class sleep, kind `timer` or `throttled`
  std::vector<bool> collected;  ///< collected_waits()

  /// WaitKinds::had_before; kNoActor if that is not known.
  ActorId let_go_by(std::uint32_t wait) const {
    const auto found = had_before.find(wait);
    return found == had_before.end() ? kNoActor : found->second;
  }
};

/// By GroupId: kernel threads, and outside groups that end waits of groups below the devices, and disk waits,
/// and no others but their own.
std::vector<bool> below_devices(const Trace& trace, const ThreadGroups& groups);

/// The wait's class and the names of its functions tell locks from hand-overs. Where no name tells, a futex
/// is a lock of the waiting group if that group's threads both wait on it and end waits on it.
WaitKinds kinds_of_waits(const Trace& trace, const ThreadGroups& groups);

}  // namespace offwait
