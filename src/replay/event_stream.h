// SPDX-License-Identifier: GPL-2.0-or-later
// What all threads did, in the order in which it happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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

/// Merges the threads' histories, each of which is in order, with O(log threads) steps an event. Events
/// before the window happen at its start, and events after it do not happen. `born` is the first event of
/// every thread: its start, or the time from which on its states are known. The trace must satisfy
/// validate(), and outlives the stream, as its histories do.
class EventStream {
 public:
  EventStream(const Trace& trace, const Histories& histories) : EventStream(trace, histories, trace.window) {}
  /// The events in a part of the window. Each thread is born at the part's begin if it was before. What was
  /// over by then does not happen.
  EventStream(const Trace& trace, const Histories& histories, const Window& part);
  std::optional<Event> next();

 private:
  /// A thread's place in its history.
  struct Cursor {
    ActorId thread = kNoActor;
    History rest{};
    Interval now{};         ///< the entry under way
    std::uint8_t step = 0;  ///< what comes next of it; 0: the next entry
  };
  /// A cursor's next event: its time, then what it is, then the cursor, which are in order of thread. One
  /// number compares without a branch that is hard to predict.
  __extension__ using Key = unsigned __int128;
  static constexpr Key kNone = ~Key{0};  ///< it has no more

  static Key key_of(Nanos at, Event::What what, std::uint32_t cursor);
  Key following(std::uint32_t cursor);
  /// When what comes next of the entry under way does; kNever: it does not.
  std::pair<Nanos, Event::What> step_of(Cursor& cursor) const;

  const Trace& trace_;
  const Window part_;
  std::vector<Cursor> cursors_;
  /// The first of all keys, and then a tree, its root first, whose nodes have the later one of the two first
  /// keys of their branches. The cursors are its leaves, from tree_.size() on.
  std::vector<Key> tree_;
};

}  // namespace offwait
