// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/event_stream.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace offwait {

namespace {

void leave_out_before(const Trace& trace, Nanos begin, History& rest) {
  rest.waits = without_first(rest.waits, [&](std::uint32_t i) { return trace.waits[i].run <= begin; });
  rest.preemptions =
      without_first(rest.preemptions, [&](std::uint32_t i) { return trace.preemptions[i].run <= begin; });
  rest.gaps = without_first(rest.gaps, [&](std::uint32_t i) { return trace.gaps[i].to <= begin; });
}

}  // namespace

EventStream::EventStream(const Trace& trace, const Histories& histories, const Window& part)
    : trace_(trace), part_(part) {
  std::vector<Key> births;
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
    births.push_back(key_of(born, Event::What::born, static_cast<std::uint32_t>(cursors_.size())));
    cursors_.push_back(cursor);
  }
  tree_.assign(std::max<std::size_t>(births.size(), 1), kNone);
  // The first key of each branch, leaves last.
  std::vector<Key> first(tree_.size(), kNone);
  first.insert(first.end(), births.begin(), births.end());
  for (std::size_t node = births.size(); node-- > 1;) {
    std::tie(first[node], tree_[node]) = std::minmax(first[2 * node], first[2 * node + 1]);
  }
  if (!births.empty()) tree_[0] = first[1];
}

std::optional<Event> EventStream::next() {
  const Key first = tree_[0];
  if (first == kNone) {
    return std::nullopt;
  }
  const auto index = static_cast<std::uint32_t>(first);
  const Cursor& cursor = cursors_[index];
  const Event out{static_cast<Nanos>(first >> 64U), cursor.thread,
                  static_cast<Event::What>(static_cast<std::uint64_t>(first) >> 32U), cursor.now.index};
  Key key = following(index);
  for (std::size_t node = (tree_.size() + index) / 2; node > 0; node /= 2) {
    const Key other = tree_[node];
    const bool is_first = other < key;
    tree_[node] = is_first ? key : other;
    key = is_first ? other : key;
  }
  tree_[0] = key;
  return out;
}

EventStream::Key EventStream::key_of(Nanos at, Event::What what, std::uint32_t cursor) {
  // Times in the window are not negative.
  return Key{static_cast<std::uint64_t>(at)} << 64U | std::uint64_t{static_cast<std::uint8_t>(what)} << 32U |
         cursor;
}

EventStream::Key EventStream::following(std::uint32_t index) {
  Cursor& cursor = cursors_[index];
  if (cursor.step == 0) {
    const std::optional<Interval> entry = take_next(trace_, cursor.rest);
    if (!entry) {
      return kNone;
    }
    cursor.now = *entry;
    // The threads' entries lie far apart in memory.
    if (!cursor.rest.waits.empty()) __builtin_prefetch(&trace_.waits[cursor.rest.waits.front()]);
    if (cursor.rest.waits.size() > 1) __builtin_prefetch(&cursor.rest.waits[1]);
  }
  const auto [at, what] = step_of(cursor);
  return at < part_.end ? key_of(std::max(at, part_.begin), what, index) : kNone;
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
