// SPDX-License-Identifier: GPL-2.0-or-later
// The threads that had one tid, one after the other.
#pragma once

#include <iterator>
#include <map>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// The lifetime [start, exit) of one thread.
struct Life {
  Nanos start = 0;
  Nanos exit = kNever;
  ActorId actor = kNoActor;  ///< kNoActor for a thread that is not part of the trace
  bool alive_at(Nanos at) const { return start <= at && at < exit; }
  /// Whether an interval that began in this life may end at `end`. An interval without an end was cut off by
  /// the window's end or by the exit.
  bool covers_to(Nanos end) const { return end == kNever || end <= exit; }
};

class TidLives {
 public:
  bool empty() const { return by_start_.empty(); }

  /// Adds a life anywhere in time. If a life that is already known overlaps `life` or starts with it, adds
  /// nothing and returns that one.
  const Life* add(const Life& life) {
    const auto next = by_start_.lower_bound(life.start);
    if (next != by_start_.end() && (next->first == life.start || next->first < life.exit)) {
      return &next->second;
    }
    if (next != by_start_.begin() && std::prev(next)->second.exit > life.start) {
      return &std::prev(next)->second;
    }
    by_start_.emplace_hint(next, life.start, life);
    return nullptr;
  }

  /// Adds a life after all others: it starts at or after the exit of the last one.
  void append(const Life& life) { by_start_.emplace_hint(by_start_.end(), life.start, life); }

  /// The last life; there must be one. Its exit may be changed, its start may not.
  Life& last() { return by_start_.rbegin()->second; }
  const Life& last() const { return by_start_.rbegin()->second; }

  /// The life that began last at or before `at`, which may have ended by then; nullptr if there is none.
  /// If it is alive at `at`, no life added later can take its place.
  const Life* born_by(Nanos at) const {
    const auto next = by_start_.upper_bound(at);
    return next == by_start_.begin() ? nullptr : &std::prev(next)->second;
  }

  /// The first life that has begun by `at` and has not ended before it, or nullptr. At the instant of an exit
  /// the old life still counts, because an exiting thread wakes others.
  const Life* alive_through(Nanos at) const {
    const Life* found = nullptr;
    for (auto next = by_start_.upper_bound(at);
         next != by_start_.begin() && std::prev(next)->second.exit >= at; --next) {
      found = &std::prev(next)->second;
    }
    return found;
  }

  /// `visit(life, next)` in order of birth; next is nullptr for the last.
  template <class Visit>
  void for_each(Visit visit) const {
    for (auto at = by_start_.begin(); at != by_start_.end(); ++at) {
      const auto next = std::next(at);
      visit(at->second, next == by_start_.end() ? nullptr : &next->second);
    }
  }

 private:
  std::multimap<Nanos, Life> by_start_;  ///< disjoint; empty lives may share their start with another one
};

}  // namespace offwait
