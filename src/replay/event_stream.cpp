// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/event_stream.h"

#include <algorithm>
#include <cstddef>

#include "base/radix_sort.h"

namespace offwait {

namespace {

/// A batch and the entries that it reads fit a second-level cache.
constexpr std::size_t kEntriesInBatch = 4096;
/// One entry of this many is looked at to choose the bounds of batches.
constexpr std::size_t kSampled = 64;
/// The waits of one thread lie far from each other. They are fetched from memory this many in advance.
constexpr std::size_t kAhead = 8;

void leave_out_before(const Trace& trace, Nanos begin, History& rest) {
  rest.waits = without_first(rest.waits, [&](std::uint32_t i) { return trace.waits[i].run <= begin; });
  rest.preemptions =
      without_first(rest.preemptions, [&](std::uint32_t i) { return trace.preemptions[i].run <= begin; });
  rest.gaps = without_first(rest.gaps, [&](std::uint32_t i) { return trace.gaps[i].to <= begin; });
}

}  // namespace

EventStream::EventStream(const Trace& trace, const Histories& histories, const Window& part)
    : trace_(trace), part_(part) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread || actor.start >= part.end || actor.exit <= part.begin) continue;
    History history = histories.of(id);
    Cursor cursor{id, history};
    if (part.begin > trace.window.begin) leave_out_before(trace, part.begin, cursor.rest);
    const std::optional<Interval> first = take_next(trace, history);
    const Nanos known = first ? std::min(actor.seen, first->from) : actor.seen;
    const Nanos born = std::max({actor.start, known, part.begin});
    if (born >= part.end) continue;
    cursor.next = key_of(born, Event::What::born, 0);
    cursors_.push_back(cursor);
  }
  find_bounds();
}

EventStream::Key EventStream::key_of(Nanos at, Event::What what, Key before) const {
  const Key time = static_cast<Key>(at - part_.begin) << kTimeShift;
  const Key order = std::max(time | static_cast<Key>(what) << kWhatBits, before / kWhats * kWhats);
  return order | static_cast<Key>(what);
}

void EventStream::find_bounds() {
  std::vector<Nanos> times;
  const auto sample = [&](const auto& entries, auto time_of) {
    for (std::size_t i = 0; i < entries.size(); i += kSampled) {
      const Nanos time = time_of(entries[i]);
      if (time > part_.begin && time < part_.end) times.push_back(time);
    }
  };
  sample(trace_.waits, [](const Wait& wait) { return wait.block; });
  sample(trace_.preemptions, [](const Preemption& preemption) { return preemption.out; });
  sample(trace_.gaps, [](const Gap& gap) { return gap.from; });
  std::sort(times.begin(), times.end());
  // A batch looks at each thread once.
  const std::size_t step = std::max(kEntriesInBatch, cursors_.size()) / kSampled;
  for (std::size_t i = step; i < times.size(); i += step) {
    const Key bound = static_cast<Key>(times[i] - part_.begin) << kTimeShift;
    if (bounds_.empty() || bounds_.back() < bound) bounds_.push_back(bound);
  }
  bounds_.push_back(static_cast<Key>(part_.length()) << kTimeShift);
}

bool EventStream::fill() {
  std::vector<Entry>& entries = batch_.entries_;
  entries.clear();
  entries.reserve(scratch_.size());
  batch_.begin_ = part_.begin;
  while (entries.empty() && batches_ < bounds_.size()) {
    const Key from = batches_ == 0 ? 0 : bounds_[batches_ - 1];
    const Key to = bounds_[batches_++];
    for (Cursor& cursor : cursors_) {
      while (cursor.next < to) {
        entries.push_back({cursor.next, cursor.thread, cursor.now.index});
        advance(cursor);
      }
    }
    std::erase_if(cursors_, [](const Cursor& cursor) { return cursor.next == kNone; });
    radix_sort(entries, scratch_, from / kWhats, to / kWhats,
               [](const Entry& entry) { return entry.key / kWhats; });
  }
  return !entries.empty();
}

void EventStream::advance(Cursor& cursor) {
  if (cursor.step == 0) {
    const std::optional<Interval> entry = take_next(trace_, cursor.rest);
    if (!entry) {
      cursor.next = kNone;
      return;
    }
    cursor.now = *entry;
    // The threads' entries lie far apart in memory.
    const auto& ahead = cursor.rest.waits;
    if (ahead.size() > kAhead) __builtin_prefetch(&trace_.waits[ahead[kAhead]]);
  }
  const auto [at, what] = step_of(cursor);
  cursor.next = at < part_.end ? key_of(std::max(at, part_.begin), what, cursor.next) : kNone;
}

std::pair<Nanos, Event::What> EventStream::step_of(Cursor& cursor) const {
  const Interval& now = cursor.now;
  const bool is_wait = now.kind == Interval::Kind::wait;
  const std::uint8_t step = cursor.step++;
  if (step == 0) return {now.from, is_wait ? Event::What::block : Event::What::preempted};
  if (is_wait && step == 1) return {trace_.waits[now.index].wake, Event::What::wake};
  cursor.step = 0;
  return {now.to, Event::What::run};
}

}  // namespace offwait
