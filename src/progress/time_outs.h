// SPDX-License-Identifier: GPL-2.0-or-later
// Waits that ended by their time because nothing else came. An event loop looks at its clock ten times a
// second, a thread at a condition once a second: each of these waits is a part of the longer wait that what
// they wait for ends. They set no pace, and nobody gains if they are shorter.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "model/trace.h"

namespace offwait {

/// A time-out came to nothing if the thread, until it waited for the same thing again, ended no wait of
/// another thread and asked no disk for anything, and if such a run of time-outs ends in a wait for it that
/// something else ended. The same thing is one object, wherever the thread waits for it, or one place if the
/// object is not known. Where most runs end so, or are ended by threads that wait for the same thing in
/// time-outs themselves, the thread found at the end of the others what it had looked for: only the last
/// time-out of these came to something. That it waited for a lock in between, or let go of one, counts for
/// nothing: that is a part of looking. A call that asks for nothing but time (class sleep) does not time out,
/// a timed wait that always ends by its time sets a pace, and one that nearly always ends by its time, and
/// what the thread waits for next by something else at once, was asked for its time: these do not count.
class TimeOuts {
 public:
  TimeOuts() = default;
  /// `sites_of_locks`, by SiteId: a function's name, or the kernel, says that these waits are for locks.
  TimeOuts(const Trace& trace, const std::vector<bool>& sites_of_locks);

  /// By the wait's index.
  bool came_to_nothing(std::size_t wait) const { return !nothing_.empty() && nothing_[wait]; }
  /// When the wait began, with the time-outs that are parts of it.
  Nanos begin_of(std::uint32_t wait, const Trace& trace) const {
    const Nanos* const began = began_.find(wait);
    return began == nullptr ? trace.waits[wait].block : *began;
  }
  /// By the wait's index: the time-out ended because the thread looked, and found what others had let go.
  bool ended_by_looking(std::uint32_t wait) const { return by_looking_.contains(wait); }
  bool any_ended_by_looking() const { return !by_looking_.empty(); }
  /// The time-outs, each with the site of the wait that it is a part of; in any order.
  const std::vector<std::pair<std::uint32_t, SiteId>>& all() const { return all_; }

 private:
  /// The time-outs are parts of another wait.
  void add_parts(const Trace& trace, const std::vector<std::uint32_t>& parts, std::uint32_t of);

  std::vector<bool> nothing_;  ///< by wait; empty if nothing timed out in vain
  std::vector<std::pair<std::uint32_t, SiteId>> all_;
  NumberMap<Nanos> began_;  ///< by wait, of those with time-outs
  std::unordered_set<std::uint32_t> by_looking_;
};

/// By SiteId: where a thread sleeps a little, looks, and sleeps again until it finds what it looks for: a
/// lock that is taken, a file that is there. Such a sleep takes as long as what it waits for, which the
/// recording does not show. A place of sleeps is one if a fifth of them or more are followed by another one
/// there, after a look that took no more than a tenth of the sleep and in which the thread did nothing for
/// others, and if it found something after three or more: then it waited in another place, did something for
/// others that took twice as long as a look, or worked for ten times as long. Work is CPU time, and where
/// records were lost it is unknown what the thread did. A thread that sleeps there all
/// the time waits for nothing but time, whatever it does in between; and as many looks as it responded to
/// clients were work.
std::vector<bool> polling_sites(const Trace& trace);

}  // namespace offwait
