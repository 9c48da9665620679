// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/event_stream.h"

#include <algorithm>
#include <cstddef>

namespace offwait {

namespace {

void leave_out_before(const Trace& trace, Nanos begin, History& rest) {
  rest.waits = without_first(rest.waits, [&](std::uint32_t i) { return trace.waits[i].run <= begin; });
  rest.preemptions =
      without_first(rest.preemptions, [&](std::uint32_t i) { return trace.preemptions[i].run <= begin; });
  rest.gaps = without_first(rest.gaps, [&](std::uint32_t i) { return trace.gaps[i].to <= begin; });
}

}  // namespace

EventStream::EventStream(const Trace& trace, const Window& part)
    : trace_(trace), part_(part), histories_(trace), cursors_(trace.actors.size()) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind == ActorKind::thread && actor.start < part.end && actor.exit > part.begin) {
      History history = histories_.of(id);
      cursors_[id].rest = history;
      if (part.begin > trace.window.begin) leave_out_before(trace, part.begin, cursors_[id].rest);
      const std::optional<Interval> first = take_next(trace, history);
      const Nanos known = first ? std::min(actor.seen, first->from) : actor.seen;
      const Nanos born = std::max({actor.start, known, part.begin});
      if (born < part.end) heap_.push_back({born, Event::What::born, id});
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
  const Pending first = heap_.front();
  const Event out{first.at, first.thread, first.what, cursors_[first.thread].now.index};
  if (const std::optional<Pending> after = following(first.thread)) {
    heap_.front() = *after;
  } else {
    heap_.front() = heap_.back();
    heap_.pop_back();
  }
  if (!heap_.empty()) {
    sift_down(0);
  }
  return out;
}

std::optional<EventStream::Pending> EventStream::following(ActorId thread) {
  Cursor& cursor = cursors_[thread];
  if (cursor.step == 0) {
    const std::optional<Interval> entry = take_next(trace_, cursor.rest);
    if (!entry) {
      return std::nullopt;
    }
    cursor.now = *entry;
    // The threads' entries lie far apart in memory.
    if (!cursor.rest.waits.empty()) __builtin_prefetch(&trace_.waits[cursor.rest.waits.front()]);
    if (cursor.rest.waits.size() > 1) __builtin_prefetch(&cursor.rest.waits[1]);
  }
  std::optional<Pending> event = step_of(thread, cursor);
  if (event) {
    event->at = std::max(event->at, part_.begin);
  }
  return event && event->at < part_.end ? event : std::nullopt;
}

std::optional<EventStream::Pending> EventStream::step_of(ActorId thread, Cursor& cursor) const {
  const Interval& now = cursor.now;
  const bool is_wait = now.kind == Interval::Kind::wait;
  const std::uint8_t step = cursor.step++;
  if (step == 0) {
    return Pending{now.from, is_wait ? Event::What::block : Event::What::preempted, thread};
  }
  if (is_wait && step == 1) {
    const Nanos wake = trace_.waits[now.index].wake;
    return wake == kNever ? std::nullopt : std::optional(Pending{wake, Event::What::wake, thread});
  }
  cursor.step = 0;
  return now.to == kNever ? std::nullopt : std::optional(Pending{now.to, Event::What::run, thread});
}

void EventStream::sift_down(std::size_t hole) {
  // Times in the window are not negative. As one number they compare without a branch that is hard to
  // predict.
  __extension__ using Key = unsigned __int128;
  const auto key = [](const Pending& event) {
    const std::uint64_t rest = std::uint64_t{static_cast<std::uint8_t>(event.what)} << 32U | event.thread;
    return Key{static_cast<std::uint64_t>(event.at)} << 64U | rest;
  };
  const Pending moved = heap_[hole];
  const Key moved_key = key(moved);
  for (std::size_t child = 2 * hole + 1; child < heap_.size(); child = 2 * hole + 1) {
    if (child + 1 < heap_.size()) {
      child += key(heap_[child + 1]) < key(heap_[child]) ? 1U : 0U;
    }
    if (key(heap_[child]) >= moved_key) {
      break;
    }
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = moved;
}

}  // namespace offwait
