// SPDX-License-Identifier: GPL-2.0-or-later
// The locks that threads waited for longest, and when which thread held them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

using LockId = std::uint8_t;  // index into LockHolds::locks
inline constexpr LockId kNoLock = UINT8_MAX;

/// A lock of the kernel, or a futex that is waited for in functions whose names say that it is a lock.
struct Lock {
  ObjectId object = kNoObject;
  Nanos wait_ns = 0;  ///< all waits for it together, clipped to the window
  std::uint64_t waits = 0;
  GroupId holders = kNoGroup;  ///< the group that held it longest, as far as is known
  SiteId site = 0;             ///< where that group waited for it longest; anyone, if it did not
  /// The part of that group's CPU work, 0 to 1, that goes into the system calls that wait for the lock and
  /// end waits for it, as CPU samples show it. All of the group's calls for locks share these by their waits.
  double calls = 0;
};

/// The thread had the lock in [from, to).
struct Hold {
  ActorId thread = kNoActor;
  LockId lock = kNoLock;
  Nanos from = 0;
  Nanos to = 0;
};

/// A recording shows a lock only where threads wait for it. The thread that ends a wait had the lock from the
/// latest of these times on: the wait of the first thread that waits at its end began, the lock was released
/// before, and the thread ran again after a wait for it of its own.
class LockHolds {
 public:
  LockHolds() = default;
  /// Knows the `most` locks that were waited for longest.
  LockHolds(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, std::size_t most);

  const std::vector<Lock>& locks() const { return locks_; }
  /// Disjoint, in order of time: while a thread holds two locks, only the one that it held first counts.
  std::span<const Hold> of(ActorId thread) const {
    return locks_.empty() ? std::span<const Hold>()
                          : std::span(holds_).subspan(starts_[thread], starts_[thread + 1] - starts_[thread]);
  }
  /// The lock that the wait is for; kNoLock if it is for none of these.
  LockId lock_of(const WaitKinds& kinds, const Wait& wait) const;

 private:
  void find_locks(const Trace& trace, const WaitKinds& kinds, std::size_t most);
  void add_holds(const Trace& trace, LockId lock, std::vector<std::uint32_t> waits);
  void sort_holds(std::size_t actors);
  void describe(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds);

  std::vector<Lock> locks_;            ///< the one that was waited for longest comes first
  std::vector<Hold> holds_;            ///< by thread, then by time
  std::vector<std::uint32_t> starts_;  ///< by ActorId: where the thread's holds begin, and the end
};

}  // namespace offwait
