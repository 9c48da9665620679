// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/event_stream.h"

#include <algorithm>
#include <tuple>

namespace offwait {

EventStream::EventStream(const Trace& trace)
    : trace_(trace), histories_(trace), cursors_(trace.actors.size()) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind == ActorKind::thread && actor.start < trace.window.end &&
        actor.exit > trace.window.begin) {
      cursors_[id].rest = histories_.of(id);
      heap_.push_back({std::max(actor.start, trace.window.begin), id, Event::What::born, 0});
    }
  }
  for (std::size_t i = heap_.size(); i-- > 0;) {
    sift_down(i);
  }
}

std::optional<Event> EventStream::next() {
  if (heap_.empty()) {
    return std::nullopt;
  }
  const Event first = heap_.front();
  if (const std::optional<Event> after = following(first.thread)) {
    heap_.front() = *after;
  } else {
    heap_.front() = heap_.back();
    heap_.pop_back();
  }
  if (!heap_.empty()) {
    sift_down(0);
  }
  return first;
}

std::optional<Event> EventStream::following(ActorId thread) {
  Cursor& cursor = cursors_[thread];
  if (cursor.step == 0) {
    const std::optional<Interval> entry = take_next(trace_, cursor.rest);
    if (!entry) {
      return std::nullopt;
    }
    cursor.now = *entry;
  }
  std::optional<Event> event = step_of(thread, cursor);
  if (event) {
    event->at = std::max(event->at, trace_.window.begin);
  }
  return event && event->at < trace_.window.end ? event : std::nullopt;
}

std::optional<Event> EventStream::step_of(ActorId thread, Cursor& cursor) const {
  const Interval& now = cursor.now;
  const bool is_wait = now.kind == Interval::Kind::wait;
  const std::uint8_t step = cursor.step++;
  if (step == 0) {
    return Event{now.from, thread, is_wait ? Event::What::block : Event::What::preempted,
                 is_wait ? now.index : 0};
  }
  if (is_wait && step == 1) {
    const Nanos wake = trace_.waits[now.index].wake;
    return wake == kNever ? std::nullopt : std::optional(Event{wake, thread, Event::What::wake, now.index});
  }
  cursor.step = 0;
  return now.to == kNever ? std::nullopt : std::optional(Event{now.to, thread, Event::What::run, 0});
}

void EventStream::sift_down(std::size_t hole) {
  const auto before = [](const Event& a, const Event& b) {
    return std::tuple(a.at, a.what, a.thread) < std::tuple(b.at, b.what, b.thread);
  };
  const Event moved = heap_[hole];
  for (std::size_t child = 2 * hole + 1; child < heap_.size(); child = 2 * hole + 1) {
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) {
      ++child;
    }
    if (!before(heap_[child], moved)) {
      break;
    }
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = moved;
}

}  // namespace offwait
