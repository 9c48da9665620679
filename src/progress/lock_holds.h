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

/// What is known of a lock beside how it was found.
struct Lock : ContendedLock {
  GroupId holders = kNoGroup;  ///< the group that held it longest, as far as is known
  SiteId site = 0;             ///< where that group waited for it longest; anyone, if it did not
  /// The part of that group's CPU work, 0 to 1, that goes into the system calls that wait for the lock and
  /// end waits for it, as CPU samples show it: a call is one by its innermost functions of the program.
  double calls = 0;
  /// The same of the functions that take the lock or let it go, with all that they call: `calls`, and what
  /// they do with the lock and what it guards. 0: not known, as for locks of the kernel and of runtimes.
  double section = 0;
  std::uint64_t section_samples = 0;  ///< how many samples that is
  std::vector<GroupId> waiting;       ///< groups that waited for it, the one that waited longest first
  std::vector<GroupId> holding;       ///< groups that held it, the one that held it longest first
  /// What threads did while they held it, as far as is known. The parts add up to held_ns.
  Nanos held_ns = 0;
  Nanos slept_ns = 0;
  Nanos disk_ns = 0;
  Nanos remote_ns = 0;
  Nanos client_ns = 0;  ///< waited for a client of the target
  Nanos others_ns = 0;  ///< waited for other threads, or it is not known what for
  Nanos queued_ns = 0;  ///< was ready to run, without a CPU
  Nanos ran_ns = 0;
};

/// A thread had the lock in [from, to).
struct Hold {
  LockId lock = kNoLock;
  Nanos from = 0;
  Nanos to = 0;
};

/// A recording shows a lock only where threads wait for it. The thread that ends a wait, or had
/// the lock before one that ended by looking, had it from the latest of these times on: the wait of the first
/// thread that waits at its end began, the lock was released before, and the thread ran again after a wait
/// for it of its own.
class LockHolds {
 public:
  LockHolds() = default;
  /// Knows the `most` first ones of WaitKinds::locks.
  LockHolds(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, std::size_t most);

  const std::vector<Lock>& locks() const { return locks_; }
  /// Disjoint, in order of time: while a thread holds two locks, only the one that it held first counts.
  std::span<const Hold> of(ActorId thread) const {
    return locks_.empty() ? std::span<const Hold>() : std::span(holds_[thread]);
  }
  /// The lock that the wait is for; kNoLock if it is for none of these.
  LockId lock_of(const WaitKinds& kinds, const Wait& wait) const {
    const LockId lock = locks_.empty() ? kNoLock : kinds.locks.of(wait);
    return lock < locks_.size() ? lock : kNoLock;
  }

 private:
  /// Indices into Trace::waits.
  using Waits = std::vector<std::uint32_t>;

  void make_disjoint();
  void describe(const Trace& trace, const ThreadGroups& groups, const std::vector<Waits>& waits);
  void add_meanwhile(const Trace& trace, const WaitKinds& kinds);

  std::vector<Lock> locks_;               ///< by LockId
  std::vector<std::vector<Hold>> holds_;  ///< by ActorId, in order of time; empty without locks
};

}  // namespace offwait
