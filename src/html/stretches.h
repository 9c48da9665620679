// SPDX-License-Identifier: GPL-2.0-or-later
// The states of a thread one after the other, as rows of a timeline show them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "model/histories.h"
#include "model/trace.h"

namespace offwait::html {

/// What a thread does at a time, as a number: running, ready to run, a wait of one class, unknown.
using State = std::uint8_t;
inline constexpr State kRunning = 0;
inline constexpr State kRunnable = 1;
inline constexpr State kFirstClass = 2;  ///< that of WaitClass{0}
inline constexpr State kUnknown = kFirstClass + static_cast<State>(kWaitClasses);
inline constexpr std::size_t kStates = std::size_t{kUnknown} + 1;
/// `running`, `runnable`, `disk`, …, `unknown`.
std::vector<std::string> state_names();

/// The part of a thread's life that the window has: empty if it did not live then.
Window life_in(const Actor& thread, const Window& window);

/// A stretch in which a thread does not run: in `state` until `wake`, then ready to run until `end`. All
/// times lie in its life_in() the window. Between two stretches it runs.
struct Stretch {
  Nanos begin = 0;
  Nanos wake = 0;
  Nanos end = 0;
  State state = kRunnable;
  const Wait* wait = nullptr;  ///< none: it was switched out while ready to run, or its state is unknown
};

/// Calls `visit(stretch)` for all of them in order of time.
template <class Visit>
void each_stretch(const Trace& trace, const Histories& histories, ActorId thread, Visit visit) {
  const Actor& actor = trace.actors[thread];
  const Window life = life_in(actor, trace.window);
  if (life.length() <= 0) return;
  // What it did before it was seen is unknown, whatever the recording says of it.
  const Nanos known = std::clamp(actor.seen, life.begin, life.end);
  const auto inside = [&](Nanos time) { return std::clamp(time, known, life.end); };
  if (known > life.begin) visit(Stretch{life.begin, known, known, kUnknown});
  History rest = histories.of(thread);
  while (const std::optional<Interval> interval = take_next(trace, rest)) {
    if (interval->from >= life.end) break;
    if (interval->to <= known) continue;
    const Nanos begin = inside(interval->from);
    const Nanos end = inside(interval->to);
    if (interval->kind == Interval::Kind::gap) {
      visit(Stretch{begin, end, end, kUnknown});
    } else if (interval->kind == Interval::Kind::preemption) {
      visit(Stretch{begin, begin, end, kRunnable});
    } else {
      const Wait& wait = trace.waits[interval->index];
      const WaitClass of = trace.sites[wait.site].wait_class;
      visit(Stretch{begin, std::clamp(wait.wake, begin, end), end,
                    static_cast<State>(kFirstClass + static_cast<State>(of)), &wait});
    }
  }
}

}  // namespace offwait::html
