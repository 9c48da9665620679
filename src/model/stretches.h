// SPDX-License-Identifier: GPL-2.0-or-later
// Stretches of time that do not overlap, and how much of another one they cover.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/nanos.h"

namespace offwait {

class Stretches {
 public:
  /// [from, to), which begins no earlier than those before it end. An empty one has no effect.
  void add(Nanos from, Nanos to) {
    if (from >= to) return;
    all_.push_back({from, to, sum_});
    sum_ += to - from;
  }

  /// How much of [from, to) they cover. O(log n).
  Nanos within(Nanos from, Nanos to) const { return from < to ? before(to) - before(from) : 0; }

 private:
  struct Stretch {
    Nanos from;
    Nanos to;
    Nanos before;  ///< length of those before it
  };

  Nanos before(Nanos at) const {
    const auto next =
        std::partition_point(all_.begin(), all_.end(), [at](const Stretch& one) { return one.from <= at; });
    if (next == all_.begin()) return 0;
    const Stretch& last = *std::prev(next);
    return last.before + std::min(at, last.to) - last.from;
  }

  std::vector<Stretch> all_;
  Nanos sum_ = 0;
};

}  // namespace offwait
