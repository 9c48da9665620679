// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/side_by_side.h"
#include "model/trace.h"

namespace offwait {

/// The entries of one vector of a trace (waits, preemptions or gaps) grouped by thread: for each actor the
/// indices of its entries, in the vector's order. An index takes 4 bytes, so the vector has fewer than 2^32
/// entries.
class ByThread {
 public:
  /// `thread_of(entry)` gives the ActorId of an entry; it is below `actors`. It is called from several
  /// threads.
  template <class Entries, class ThreadOf>
  ByThread(std::size_t actors, const Entries& entries, ThreadOf thread_of)
      : starts_(actors + 1), indices_(entries.size()) {
    const std::size_t parts = parts_of_work(entries.size(), std::max<std::size_t>(100'000, 16 * actors));
    const auto begin = [&](std::size_t part) { return entries.size() * part / parts; };
    // By part and thread: first the number of entries, then the place of the next one.
    std::vector<std::vector<std::uint32_t>> places(parts);
    each_side_by_side(parts, [&](std::size_t part) {
      std::vector<std::uint32_t> counts(actors);
      for (std::size_t i = begin(part); i < begin(part + 1); ++i) {
        ++counts[thread_of(entries[i])];
      }
      places[part] = std::move(counts);
    });
    std::uint32_t end = 0;
    for (std::size_t thread = 0; thread < actors; ++thread) {
      starts_[thread] = end;
      for (std::vector<std::uint32_t>& place : places) {
        end += std::exchange(place[thread], end);
      }
    }
    starts_[actors] = end;
    each_side_by_side(parts, [&](std::size_t part) {
      for (std::size_t i = begin(part); i < begin(part + 1); ++i) {
        indices_[places[part][thread_of(entries[i])]++] = static_cast<std::uint32_t>(i);
      }
    });
  }

  std::span<const std::uint32_t> of(ActorId thread) const {
    return std::span(indices_).subspan(starts_[thread], starts_[thread + 1] - starts_[thread]);
  }

 private:
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> indices_;
};

}  // namespace offwait
