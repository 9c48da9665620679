// SPDX-License-Identifier: GPL-2.0-or-later
// How far a wait that a thread ended binds the waiter, in a replay, to when that thread gets there.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/waits_for_sleepers.h"

namespace offwait {

enum class Tie : std::uint8_t {
  follows,  ///< the wait ends when the thread that ended it gets there
  lasts,    ///< it takes as long as that thread takes for what it did meanwhile, whenever that is
  none,     ///< it takes as long as it did
};

struct Ties {
  /// By SiteId, of waits that threads ended (WaitKind::handover and lock); Tie::none for all others.
  ///
  /// Hand-overs are followed, and so are releases of a lock within one group, whose threads take turns. A
  /// lock is taken in any order: a wait for one that a thread of another group had lasts. So does a wait for
  /// a thread that goes by time, and hardly by what others hand it, if no more than a tenth of such waits
  /// lies in its sleeps: a checkpoint that stops others comes as time passes, and not as their work is done.
  /// What ends outside of all that the replay is about binds nothing: locks that threads outside of the
  /// target release, and hand-overs of those that are no service and hand over to the group too seldom to
  /// have a pace. (Any tool that reads /proc keeps newborn processes off their memory for microseconds.)
  std::vector<Tie> of_site;
  std::vector<double> distance_ns;  ///< by GroupId: of two waits of one of its threads, on average

  /// The longest that a wait of the group that took `length_ns` may become: longer by twice the mean
  /// distance, because otherwise a few odd waits pin the group to the thread that ended them.
  double longest(GroupId group, double length_ns) const { return length_ns + 2 * distance_ns[group]; }
};

/// `sleepers`: waits_for_sleepers_of() the trace.
Ties ties_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
             const WaitsForSleepers& sleepers);

}  // namespace offwait
