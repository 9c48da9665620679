// SPDX-License-Identifier: GPL-2.0-or-later
// The sweep (graph/sweep.h) of one part of the window.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "graph/releases.h"
#include "graph/sweep.h"
#include "model/histories.h"
#include "model/trace.h"

namespace offwait {

/// A wait that began before a part of the window and was ended in it by a thread. How long the waker waited
/// for a disk during it is only known together with the parts before.
struct CutWait {
  ActorId thread = kNoActor;
  ActorId waker = kNoActor;
  SiteId site = 0;
  bool disk_turn = false;  ///< whether it is one of the waits around a disk (SiteSum::kept_ns)
  bool together = false;   ///< whether it is counted in a release already
  Nanos begin = 0;         ///< clipped to the window
  Nanos end = 0;
  Nanos disk = 0;  ///< how long the waker waited for a disk, from the part's start to `end`
  /// The time at which a thread last ended such a wait of the waker in this part, and how long the waker had
  /// waited for a disk in the part until then. A time before the part's start stands for none.
  Nanos let_go = 0;
  Nanos disk_at_let_go = 0;
};

/// What a part of the window leaves open about a thread.
struct ThreadInPart {
  /// The first and the last release among the waits that it ended. The first one may have begun before the
  /// part, and the last one may go on after it. If there is only one, `first` is empty.
  Release first;
  Release last;
  /// The first thing in the part that tells what the thread did after its last wait behind another's disk
  /// wait: it waited for a disk, or behind one once more. That wait was before the part, or is a CutWait.
  enum class Settled : std::uint8_t { no, at_disk, behind_disk };
  Settled settled = Settled::no;
  /// Length and site of the last wait behind another's disk wait for which this is not settled yet. The
  /// length is 0 without such a wait.
  Nanos behind_disk = 0;
  SiteId behind_disk_site = 0;
  /// The time at which a thread last ended a wait of this thread that was not for a disk. A time before the
  /// part's start stands for none.
  Nanos let_go = 0;
  Nanos disk = 0;  ///< how long it waited for a disk from then, or from the part's start, to the part's end
  Nanos waker_disk = 0;     ///< how long the waker of the wait that is open at the end did, during it
  bool whole_part = false;  ///< that wait began before the part
};

/// Sums over what happened in one part of the window. A wait that reaches over several parts adds its time in
/// each to its site, but counts where it ends, or in the last one. What depends on other parts is not in the
/// sums.
struct SweptPart {
  Nanos begin = 0;
  SiteSums sums;
  std::vector<ActorTime> actors;
  std::vector<ThreadInPart> threads;  ///< by ActorId
  std::vector<CutWait> cut_waits;
  /// Set if this part cannot have happened. If one before cannot either, only that one's error is right.
  std::optional<Error> error;
};

/// `wakers`: by site, the waker if it is a thread, else kNoActor. `begins`: of some_begins().
SweptPart sweep_part(const Trace& trace, const Histories& histories, const std::vector<ActorId>& wakers,
                     std::span<const Nanos> begins, const Window& part);

}  // namespace offwait
