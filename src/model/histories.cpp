// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/histories.h"

#include <utility>

namespace offwait {

Histories::Histories(const Trace& trace)
    : waits_(trace.actors.size(), trace.waits,
             [&trace](const Wait& wait) { return trace.sites[wait.site].thread; }),
      preemptions_(trace.actors.size(), trace.preemptions,
                   [](const Preemption& preemption) { return preemption.thread; }),
      gaps_(trace.actors.size(), trace.gaps, [](const Gap& gap) { return gap.thread; }) {}

std::optional<Interval> take_next(const Trace& trace, History& rest) {
  std::optional<Interval> next;
  std::span<const std::uint32_t>* from = nullptr;
  const auto offer = [&next, &from](const Interval& interval, std::span<const std::uint32_t>& indices) {
    if (next && std::pair(next->from, next->to) <= std::pair(interval.from, interval.to)) return;
    next = interval;
    from = &indices;
  };
  if (!rest.waits.empty()) {
    const Wait& wait = trace.waits[rest.waits.front()];
    offer({Interval::Kind::wait, rest.waits.front(), wait.block, wait.run}, rest.waits);
  }
  if (!rest.preemptions.empty()) {
    const Preemption& preemption = trace.preemptions[rest.preemptions.front()];
    offer({Interval::Kind::preemption, rest.preemptions.front(), preemption.out, preemption.run},
          rest.preemptions);
  }
  if (!rest.gaps.empty()) {
    const Gap& gap = trace.gaps[rest.gaps.front()];
    offer({Interval::Kind::gap, rest.gaps.front(), gap.from, gap.to}, rest.gaps);
  }
  if (from != nullptr) *from = from->subspan(1);
  return next;
}

std::optional<OrderFault> find_order_fault(const Trace& trace) {
  const Histories histories(trace);
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    History rest = histories.of(id);
    std::optional<Interval> previous;
    while (const std::optional<Interval> next = take_next(trace, rest)) {
      if (next->from < actor.start) {
        return OrderFault{OrderFault::Kind::before_birth, id, *next, {}};
      }
      if (previous && next->from < previous->to) {
        return OrderFault{OrderFault::Kind::overlap, id, *next, *previous};
      }
      if (next->from > actor.exit || (next->to > actor.exit && next->to != kNever)) {
        return OrderFault{OrderFault::Kind::after_exit, id, *next, {}};
      }
      previous = next;
    }
  }
  return std::nullopt;
}

}  // namespace offwait
