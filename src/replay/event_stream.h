// SPDX-License-Identifier: GPL-2.0-or-later
// What all threads did, in the order in which it happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/histories.h"
#include "model/trace.h"

namespace offwait {

struct Event {
  /// Events at one instant come in this order, because a thread that blocks wakes others before it does.
  /// A gap in the records also begins with `preempted`, because no wait explains that time either.
  enum class What : std::uint8_t { born, wake, run, block, preempted };
  Nanos at = 0;
  ActorId thread = kNoActor;
  What what = What::born;
  std::uint32_t wait = 0;  ///< block, wake: index into Trace::waits
};

/// Merges the threads' histories, each of which is in order, with O(log threads) steps an event and 4 bytes
/// of memory an entry. Events before the window happen at its begin, and events after it do not happen.
/// `born` is the first event of every thread: its start, or the time from which on its states are known. The
/// trace must satisfy validate().
class EventStream {
 public:
  explicit EventStream(const Trace& trace) : EventStream(trace, trace.window) {}
  /// The events in a part of the window. Each thread is born at the part's begin if it was before. What was
  /// over by then does not happen.
  EventStream(const Trace& trace, const Window& part);
  std::optional<Event> next();

 private:
  struct Cursor {
    History rest;
    Interval now;           ///< the entry under way
    std::uint8_t step = 0;  ///< what comes next of it; 0: the next entry
  };
  /// A thread's next event, as it is compared: by `at`, then by `what` and thread.
  struct Pending {
    Nanos at = 0;
    Event::What what = Event::What::born;
    ActorId thread = kNoActor;
  };
  /// The thread's next event, after its cursor; none at its end.
  std::optional<Pending> following(ActorId thread);
  std::optional<Pending> step_of(ActorId thread, Cursor& cursor) const;
  void sift_down(std::size_t hole);

  const Trace& trace_;
  const Window part_;
  Histories histories_;
  std::vector<Cursor> cursors_;
  std::vector<Pending> heap_;  ///< each thread's next one, the earliest first
};

}  // namespace offwait
