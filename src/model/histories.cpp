// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/histories.h"

#include <limits>
#include <utility>
#include <vector>

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

namespace {

/// Checks the intervals of all threads, those of one thread in order of time.
class OrderCheck {
 public:
  explicit OrderCheck(const Trace& trace)
      : trace_(trace),
        preemptions_(trace.actors.size(), trace.preemptions,
                     [](const Preemption& preemption) { return preemption.thread; }),
        gaps_(trace.actors.size(), trace.gaps, [](const Gap& gap) { return gap.thread; }) {
    threads_.reserve(trace.actors.size());
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      Thread thread{trace.actors[id].start, trace.actors[id].exit, {{}, preemptions_.of(id), gaps_.of(id)}};
      thread.other = take_next(trace, thread.others);
      threads_.push_back(thread);
    }
  }

  /// The waits are taken as they lie in memory, which is much faster than thread by thread.
  std::optional<OrderFault> run() {
    for (std::uint32_t index = 0; index < trace_.waits.size(); ++index) {
      const Wait& wait = trace_.waits[index];
      const ActorId id = trace_.sites[wait.site].thread;
      Thread& thread = threads_[id];
      while (thread.other &&
             std::pair(thread.other->from, thread.other->to) < std::pair(wait.block, wait.run))
        take_other(id, thread);
      check(id, thread, {Interval::Kind::wait, index, wait.block, wait.run});
    }
    for (ActorId id = 0; id < threads_.size(); ++id) {
      while (threads_[id].other) take_other(id, threads_[id]);
    }
    return fault_;
  }

 private:
  struct Thread {
    Nanos start = 0;
    Nanos exit = kNever;
    History others;                   ///< preemptions and gaps after `other`
    std::optional<Interval> other{};  ///< the next preemption or gap
    Interval previous{Interval::Kind::wait, 0, 0, std::numeric_limits<Nanos>::min()};
    bool faulty = false;
  };

  void take_other(ActorId id, Thread& thread) {
    const Interval other = *thread.other;
    thread.other = take_next(trace_, thread.others);
    check(id, thread, other);
  }

  /// Keeps the first fault of the first thread that has one.
  void check(ActorId id, Thread& thread, const Interval& next) {
    std::optional<OrderFault::Kind> kind;
    if (next.from < thread.start) {
      kind = OrderFault::Kind::before_birth;
    } else if (next.from < thread.previous.to) {
      kind = OrderFault::Kind::overlap;
    } else if (next.from > thread.exit || (next.to > thread.exit && next.to != kNever)) {
      kind = OrderFault::Kind::after_exit;
    }
    if (kind && !thread.faulty && (!fault_ || id < fault_->thread)) {
      fault_ = {*kind, id, next, *kind == OrderFault::Kind::overlap ? thread.previous : Interval{}};
    }
    thread.faulty = thread.faulty || kind;
    thread.previous = next;
  }

  const Trace& trace_;
  ByThread preemptions_;
  ByThread gaps_;
  std::vector<Thread> threads_;  ///< by ActorId
  std::optional<OrderFault> fault_;
};

}  // namespace

std::optional<OrderFault> find_order_fault(const Trace& trace) { return OrderCheck(trace).run(); }

}  // namespace offwait
