// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that wait for the same: the one that is there first goes on first, and which one that is may differ
// from scenario to scenario.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/lane_factors.h"
#include "replay/ties.h"

namespace offwait {

/// The threads that wait at a time, by place, each list in the order in which they came in the recording.
///
/// Threads of a group are in one place if they wait for requests to the same disk, or in the same stack for
/// the same lock, or in the same stack and process for something else. It is taken for granted that a lock
/// may be one for several processes, and that what is handed to a process is for any of its threads in that
/// stack, whatever it is. Waits without a stack, and waits whose length does not follow from another
/// thread's times (Tie::follows) or a disk's, have no place.
class InOnePlace {
 public:
  /// The trace and its kinds of waits outlive it.
  InOnePlace(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Ties& ties);

  /// The thread begins to wait. It is in no place yet.
  void come(ActorId thread, const Wait& wait);
  /// The wait that the thread came with is over.
  void go(ActorId thread, const Wait& wait);

  /// What a thread waited for came at `came`. In lanes in which the thread got there later than that, another
  /// thread in the same place that was there sooner went on in its stead: the two change their times for
  /// good. `now`, by ActorId, are the times at which threads that wait got there. The thread is gone already;
  /// of requests to disks only those are looked at that were issued later than its own in the recording. At
  /// most 8 threads are looked at. Returns when the thread itself got there: that is valid until the next
  /// call, and as long as `now` is.
  ConstRow take_turn(ActorId thread, const Wait& wait, ConstRow came, Rows& now, std::size_t lanes);

 private:
  using Place = std::uint32_t;
  static constexpr Place kNowhere = UINT32_MAX;

  const Trace& trace_;
  const WaitKinds& kinds_;
  std::vector<Place> place_of_site_;
  std::vector<ActorId> first_;     ///< by Place; kNoActor: no thread is there
  std::vector<ActorId> last_;      ///< likewise
  std::vector<ActorId> before_;    ///< by ActorId, in its place; kNoActor: it is the first one
  std::vector<ActorId> after_;     ///< likewise; of one that went, the one that was after it
  std::vector<ObjectId> lock_;     ///< by ActorId: what it waits for; kNoObject: no lock, or not known
  std::vector<std::size_t> late_;  ///< lanes
  std::vector<double> came_at_;    ///< by lane
};

}  // namespace offwait
