// SPDX-License-Identifier: GPL-2.0-or-later
// What is gained at most if a lock is split, or not waited for.
#pragma once

#include <optional>
#include <vector>

#include "progress/progress.h"
#include "replay/lanes.h"
#include "replay/room.h"
#include "replay/scenario.h"

namespace offwait {

/// At `gain` this is full; Full::nothing: the waiters' own work and other waits are left.
struct LockBound {
  double gain = 0;
  /// The same if the functions that take the lock (Lock::section) needed no CPU time without it, where that
  /// is more: the most that it may gain. Locks are ranked without this.
  std::optional<double> without_section{};
  Full full = Full::nothing;
  ActorId disk = kNoActor;
  LockId lock = kNoLock;  ///< Full::lock: that one
};

/// A replay without the lock keeps the order of all else, and says what that happens to leave. A program in
/// which it is really split gains more: its waiters run side by side. So the bound takes no more from the
/// recording than how long each group does not wait for the lock, or behind a thread that does
/// (behind_locks()), nor runs in the calls that do (Lock::calls), and what there is room for then: CPUs,
/// requests to disks that can be for one thread only, and other locks, each of which is held no longer than
/// all of the time. A write or a flush counts once for all threads: behind a lock nobody shares a group
/// commit, without it they do.
///
/// The CPU work is taken as it is, though a contended lock makes it dearer, because its data moves between
/// CPUs; how much, no recording shows. Where CPUs are full there is therefore a second bound, without any CPU
/// work of the functions that take the lock, unless these have nearly all of it or too few samples.
class LockBounds {
 public:
  /// The values outlive it.
  LockBounds(const ReplayInput& input, const Room& room, const std::vector<double>& weights);

  /// In `scenario` no thread waits for the lock; `speeds`, by GroupId, are what a replay of that has.
  LockBound of(const Progress& progress, const Scenario& scenario, LockId lock,
               const std::vector<double>& speeds) const;

 private:
  double gain(const Progress& progress, const std::vector<double>& speeds) const;
  /// The bound if `saved` of the holders' CPU work is gone without the lock.
  LockBound bound(const Progress& progress, Scenario scenario, LockId lock, const std::vector<double>& speeds,
                  double saved) const;

  const ReplayInput& input_;
  const Room& room_;
  const std::vector<double>& weights_;
  std::vector<std::vector<double>> behind_;  ///< by LockId and GroupId
};

}  // namespace offwait
