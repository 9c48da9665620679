// SPDX-License-Identifier: GPL-2.0-or-later
// What is a lock: one thread has it, others wait, it is passed on. Names say so, or how its waits begin and
// end (like_a_lock.h), which also tells it from a queue, a barrier and a broadcast.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/time_outs.h"

namespace offwait {

using LockId = std::uint32_t;  // index into ContendedLocks::all
inline constexpr LockId kNoLock = UINT32_MAX;
inline constexpr FrameId kNoFrame = UINT32_MAX;

/// Why it is taken for a lock.
enum class LockEvidence : std::uint8_t {
  kernel,     ///< it is a lock of the kernel, or the kernel says that it spins for one
  name,       ///< a function's name says so
  behaviour,  ///< how its waits begin and end: passes_like_a_lock()
};
std::string_view to_string(LockEvidence evidence);

/// A lock is one `object`, with the mutex that belongs to it if it is a condition, or, where each waiter
/// parks on an object of its own, one `place`: a function in which threads of processes that end each other's
/// waits wait.
struct ContendedLock {
  ObjectId object = kNoObject;
  FrameId place = kNoFrame;  ///< known where `object` is not; a frame of the function
  LockEvidence evidence = LockEvidence::name;
  Nanos wait_ns = 0;  ///< all waits for it together, clipped to the window
  std::uint64_t waits = 0;
};

struct ContendedLocks {
  std::vector<ContendedLock> all;  ///< the one that was waited for longest comes first
  std::vector<LockId> of_object;   ///< by ObjectId; kNoLock
  std::vector<LockId> of_site;     ///< by SiteId: of waits whose object is no lock; kNoLock
  std::vector<bool> mostly_at;     ///< by SiteId: most waits there are for locks

  /// The lock that the wait is for; kNoLock if it is for none.
  LockId of(const Wait& wait) const {
    const LockId object = wait.object == kNoObject ? kNoLock : of_object[wait.object];
    return object != kNoLock ? object : of_site[wait.site];
  }
};

/// What a wait's function names and class say of it.
enum class Told : std::uint8_t { nothing, lock, handover };

/// By SiteId.
struct SitesOfWaits {
  std::vector<Told> told;
  std::vector<bool> retakes;           ///< for a condition's mutex, at the end of a wait for the condition
  std::vector<FrameId> manager;        ///< a function of a lock manager that waits for its locks; kNoFrame
  std::vector<bool> ended_by_threads;  ///< by none of those below the devices
  std::vector<bool> rendezvous;        ///< for a barrier, a latch or the end of a thread, as names say
  std::vector<bool> own_object;        ///< on an object of the thread's own, whatever it waits for
  /// By FrameId: a function of the C library or of a runtime by which threads wait for anything. What waits
  /// there has nothing in common.
  std::vector<bool> way_to_wait;
};

/// A futex or a lock of the kernel is a lock if functions' names say so in more of its waits than they say
/// that something is handed over, the kernel does, or a variable's name does (CPython's GIL), and whatever
/// threads wait for if their waits are like those for a lock (like_a_lock.h). What names call a barrier, a
/// latch or the end of a thread in most of its waits is never a lock.
ContendedLocks locks_of_waits(const Trace& trace, const SitesOfWaits& sites, const TimeOuts& time_outs);

}  // namespace offwait
