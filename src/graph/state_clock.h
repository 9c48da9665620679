// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/nanos.h"
#include "model/histories.h"
#include "model/trace.h"

namespace offwait {

/// Adds up the states of one thread, from an instant in the window, or the thread's birth if that is later,
/// to another that only moves forward. It is told of the waits, at their times; of one that is open at the
/// first instant right after it is made.
class StateClock {
 public:
  enum State : std::uint8_t { running, runnable, blocked, on_disk, asleep, unknown };
  /// By State. on_disk and asleep are not included in blocked.
  using Times = std::array<Nanos, 6>;

  StateClock(const Trace& trace, const Actor& actor, const History& history, Nanos begin)
      : preemptions_(history.preemptions),
        gaps_(history.gaps),
        since_(std::max(actor.start, begin)),
        end_(std::max(since_, std::min(actor.exit, trace.window.end))) {
    find_next(trace);
    until_ = std::min(actor.seen, next_);
    if (!history.waits.empty()) {
      until_ = std::min(until_, trace.waits[history.waits.front()].block);
      // The runnable time after the last wait before `begin` may reach past it.
      const std::size_t begun = begun_before(trace, history.waits, begin);
      if (begun > 0) run_ = trace.waits[history.waits[begun - 1]].run;
    }
    if (next_ >= begin) return;
    preemptions_ =
        without_first(preemptions_, [&](std::uint32_t i) { return trace.preemptions[i].run <= begin; });
    gaps_ = without_first(gaps_, [&](std::uint32_t i) { return trace.gaps[i].to <= begin; });
    find_next(trace);
  }

  const Times& at(const Trace& trace, Nanos time) {
    const Nanos to = std::min(time, end_);
    if (until_ <= to) change_states(trace, to);
    if (to > since_) {
      spend(to);
    }
    return times_;
  }

  /// A wait of the class begins. The clock was last read at this instant.
  void block(WaitClass wait_class) {
    enter(wait_class == WaitClass::disk    ? on_disk
          : wait_class == WaitClass::sleep ? asleep
                                           : blocked,
          kNever);
  }

  /// The wait ends, or an empty one that is followed by runnable time. The clock was last read at this
  /// instant.
  void wake(Nanos run) {
    run_ = run;
    until_ = since_;
  }

 private:
  using Indices = std::span<const std::uint32_t>;

  void spend(Nanos to) {
    times_[state_] += to - since_;
    since_ = to;
  }

  void enter(State state, Nanos until) {
    state_ = state;
    until_ = until;
  }

  Nanos next_out(const Trace& trace) const {
    return preemptions_.empty() ? kNever : trace.preemptions[preemptions_.front()].out;
  }
  Nanos next_gap(const Trace& trace) const { return gaps_.empty() ? kNever : trace.gaps[gaps_.front()].from; }
  void find_next(const Trace& trace) { next_ = std::min(next_out(trace), next_gap(trace)); }

  /// Spends the states that end up to `to`. By itself, so that at() is short where nothing ends.
  void change_states(const Trace& trace, Nanos to) {
    while (until_ <= to) {
      if (until_ > since_) {
        spend(until_);
      }
      next_state(trace);
    }
  }

  /// Goes to the state after the one that ended at since_ or, for records from before the clock began,
  /// earlier.
  void next_state(const Trace& trace) {
    if (run_ > since_) {
      return enter(runnable, run_);
    }
    if (next_ > since_) {
      return enter(running, next_);
    }
    if (next_out(trace) == next_) {
      enter(runnable, trace.preemptions[preemptions_.front()].run);
      preemptions_ = preemptions_.subspan(1);
    } else {
      enter(unknown, trace.gaps[gaps_.front()].to);
      gaps_ = gaps_.subspan(1);
    }
    find_next(trace);
  }

  Indices preemptions_;  ///< those to come
  Indices gaps_;         ///< those to come
  Times times_{};
  Nanos since_;
  Nanos end_;
  Nanos next_ = kNever;   ///< when the next preemption or gap begins
  Nanos until_ = kNever;  ///< when state_ ends, unless a wait begins or ends before
  Nanos run_ = 0;         ///< when the runnable time after the last wait ends
  State state_ = unknown;
};

}  // namespace offwait
