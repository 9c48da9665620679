// SPDX-License-Identifier: GPL-2.0-or-later
// What a thread did in a stretch of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/by_thread.h"
#include "model/trace.h"

namespace offwait {

/// Looks up a trace's waits, preemptions and gaps by thread and time. The trace must satisfy validate().
class Activity {
 public:
  /// Parts of a stretch of time; with the waits in it they add up to its length.
  struct Times {
    Nanos ran_ns = 0;
    Nanos runnable_ns = 0;
    Nanos unknown_ns = 0;
  };

  explicit Activity(const Trace& trace)
      : trace_(trace),
        waits_(trace.actors.size(), trace.waits,
               [&trace](const Wait& wait) { return trace.sites[wait.site].thread; }),
        preemptions_(trace.actors.size(), trace.preemptions,
                     [](const Preemption& preemption) { return preemption.thread; }),
        gaps_(trace.actors.size(), trace.gaps, [](const Gap& gap) { return gap.thread; }) {}

  /// The thread's time in [from, to). Calls `visit(wait's index, begin, end)` for each part of it that the
  /// thread was blocked.
  template <class Visit>
  Times look(ActorId thread, Nanos from, Nanos to, Visit visit) const {
    Times out;
    if (from >= to) return out;
    const Actor& actor = trace_.actors[thread];
    const Nanos known = std::clamp(std::max(actor.start, actor.seen), from, to);
    out.unknown_ns = known - from;
    Nanos rest = to - known;
    const auto part = [known, to](Nanos begin, Nanos end) {
      return std::max<Nanos>(0, std::min(end, to) - std::max(begin, known));
    };
    each(waits_.of(thread), trace_.waits, &Wait::block, known, to, [&](std::uint32_t id, const Wait& wait) {
      rest -= part(wait.block, wait.run);
      out.runnable_ns += part(wait.wake, wait.run);
      if (part(wait.block, wait.wake) > 0) visit(id, std::max(wait.block, known), std::min(wait.wake, to));
    });
    each(preemptions_.of(thread), trace_.preemptions, &Preemption::out, known, to,
         [&](std::uint32_t, const Preemption& preemption) {
           const Nanos runnable = part(preemption.out, preemption.run);
           out.runnable_ns += runnable;
           rest -= runnable;
         });
    each(gaps_.of(thread), trace_.gaps, &Gap::from, known, to, [&](std::uint32_t, const Gap& gap) {
      const Nanos unknown = part(gap.from, gap.to);
      out.unknown_ns += unknown;
      rest -= unknown;
    });
    out.ran_ns = rest;
    return out;
  }

  /// Indices into Trace::waits, in order of time.
  std::span<const std::uint32_t> waits_of(ActorId thread) const { return waits_.of(thread); }

 private:
  /// Visits those of a thread's entries, which are disjoint and in order, that may overlap [from, to).
  template <class Entries, class Visit>
  static void each(std::span<const std::uint32_t> ids, const Entries& entries,
                   Nanos Entries::value_type::*begin, Nanos from, Nanos to, Visit visit) {
    auto at = std::partition_point(ids.begin(), ids.end(),
                                   [&](std::uint32_t id) { return entries[id].*begin <= from; });
    if (at != ids.begin()) --at;
    for (; at != ids.end() && entries[*at].*begin < to; ++at) visit(*at, entries[*at]);
  }

  const Trace& trace_;
  ByThread waits_;
  ByThread preemptions_;
  ByThread gaps_;
};

}  // namespace offwait
