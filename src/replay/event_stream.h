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

/// Merges the threads' histories, each of which is in order, in O(1) time for an event. Events before the
/// window happen at its start, and events after it do not happen. `born` is the first event of every thread:
/// its start, or the time from which on its states are known. At one instant the threads' next events come in
/// the order of What, and then in that of the threads. The trace must satisfy validate(), and outlives the
/// stream, as its histories do.
///
/// Takes memory for a batch: some 10,000 events, or a few for each thread if that is more.
class EventStream {
 public:
  EventStream(const Trace& trace, const Histories& histories) : EventStream(trace, histories, trace.window) {}
  /// The events in a part of the window. Each thread is born at the part's start if it was before. What was
  /// over by then does not happen.
  EventStream(const Trace& trace, const Histories& histories, const Window& part);

  std::optional<Event> next() {
    if (at_ == batch_.size()) {
      at_ = 0;
      if (!fill()) return std::nullopt;
    }
    return batch_.event(at_++);
  }

 private:
  /// Entries are in order of their key, whose lowest digit does not count: the time from the part's start,
  /// then its rank at this instant, then Event::what. Where a thread has several events at one instant, none
  /// comes before the one that precedes it.
  using Key = std::uint64_t;
  static constexpr Key kNone = ~Key{0};  ///< the thread has no more events
  static constexpr unsigned kWhatBits = 3;
  static constexpr Key kWhats = Key{1} << kWhatBits;
  static constexpr unsigned kTimeShift = 2 * kWhatBits;

  struct Entry {
    Key key = 0;
    ActorId thread = kNoActor;
    std::uint32_t wait = 0;
  };

 public:
  /// Several events, in order.
  class Batch {
   public:
    std::size_t size() const { return entries_.size(); }
    Event event(std::size_t index) const {
      const Entry& entry = entries_[index];
      return {begin_ + static_cast<Nanos>(entry.key >> kTimeShift), entry.thread,
              static_cast<Event::What>(entry.key % kWhats), entry.wait};
    }

   private:
    friend class EventStream;
    Nanos begin_ = 0;  ///< of the part of the window
    std::vector<Entry> entries_;
  };

  /// The next events, instead of next(): one or more, nothing after the last one.
  std::optional<Batch> next_batch() {
    if (!fill()) return std::nullopt;
    return std::exchange(batch_, {});
  }

 private:
  /// A thread's place in its history.
  struct Cursor {
    ActorId thread = kNoActor;
    History rest{};
    Key next = kNone;       ///< of its next event
    Interval now{};         ///< the entry under way
    std::uint8_t step = 0;  ///< what comes after the next event; 0: the next entry
  };

  Key key_of(Nanos at, Event::What what, Key before) const;
  void find_bounds();
  bool fill();
  void advance(Cursor& cursor);
  /// The next event of the entry that is under way, and when it happens; kNever: it does not happen.
  std::pair<Nanos, Event::What> step_of(Cursor& cursor) const;

  const Trace& trace_;
  const Window part_;
  std::vector<Cursor> cursors_;  ///< those that have events to come, in order of thread
  std::vector<Key> bounds_;      ///< a batch has the keys from one of these up to the next
  std::size_t batches_ = 0;      ///< that were filled
  Batch batch_;
  std::vector<Entry> scratch_;
  std::size_t at_ = 0;  ///< in batch_
};

}  // namespace offwait
