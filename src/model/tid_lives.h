// SPDX-License-Identifier: GPL-2.0-or-later
// The threads that had one tid, one after the other.
#pragma once

#include <iterator>
#include <map>
#include <memory>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// The lifetime [start, exit) of one thread.
struct Life {
  Nanos start = 0;
  Nanos exit = kNever;
  ActorId actor = kNoActor;   ///< kNoActor for a thread that is not part of the trace
  ActorId parent = kNoActor;  ///< as Actor::parent
  bool alive_at(Nanos at) const { return start <= at && at < exit; }
  /// Whether an interval that began in this life may end at `end`. An interval without an end was cut off by
  /// the window's end or by the exit.
  bool covers_to(Nanos end) const { return end == kNever || end <= exit; }
};

/// Most tids have one life, which needs no memory of its own.
class TidLives {
 public:
  bool empty() const { return !many_ && one_.start == kNever; }

  /// Adds a life anywhere in time. If a life that is already known overlaps `life` or starts with it, adds
  /// nothing and returns that one.
  const Life* add(const Life& life) {
    if (empty()) {
      one_ = life;
      return nullptr;
    }
    ByStart& by_start = many();
    const auto next = by_start.lower_bound(life.start);
    if (next != by_start.end() && (next->first == life.start || next->first < life.exit)) {
      return &next->second;
    }
    if (next != by_start.begin() && std::prev(next)->second.exit > life.start) {
      return &std::prev(next)->second;
    }
    by_start.emplace_hint(next, life.start, life);
    return nullptr;
  }

  /// The life that began last at or before `at`, which may have ended by then; nullptr if there is none.
  /// If it is alive at `at`, no life added later can take its place.
  const Life* born_by(Nanos at) const {
    if (!many_) return one_.start <= at && !empty() ? &one_ : nullptr;
    const auto next = many_->upper_bound(at);
    return next == many_->begin() ? nullptr : &std::prev(next)->second;
  }

  /// `visit(life, next)` in order of birth; next is nullptr for the last.
  template <class Visit>
  void for_each(Visit visit) const {
    if (!many_) {
      if (!empty()) visit(one_, nullptr);
      return;
    }
    for (auto at = many_->begin(); at != many_->end(); ++at) {
      const auto next = std::next(at);
      visit(at->second, next == many_->end() ? nullptr : &next->second);
    }
  }

 private:
  using ByStart = std::map<Nanos, Life>;  ///< disjoint

  ByStart& many() {
    if (!many_) {
      const bool has_one = !empty();
      many_ = std::make_unique<ByStart>();
      if (has_one) many_->emplace(one_.start, one_);
    }
    return *many_;
  }

  Life one_{kNever, kNever, kNoActor};  ///< starts at kNever while no life is known
  std::unique_ptr<ByStart> many_;       ///< if there is, or was to be, more than one
};

}  // namespace offwait
