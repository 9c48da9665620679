// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// The entries of one vector of a trace (waits, preemptions or gaps) grouped by thread: for each actor the
/// indices of its entries, in the vector's order. An index takes 4 bytes, so the vector has fewer than 2^32
/// entries.
class ByThread {
 public:
  /// `thread_of(entry)` gives the ActorId of an entry; it is below `actors`.
  template <class Entries, class ThreadOf>
  ByThread(std::size_t actors, const Entries& entries, ThreadOf thread_of)
      : starts_(actors + 1), indices_(entries.size()) {
    for (const auto& entry : entries) {
      ++starts_[thread_of(entry)];
    }
    // starts_ first holds the end of each thread's part; filling from the back moves it to the start.
    std::uint32_t end = 0;
    for (std::uint32_t& start : starts_) {
      start = end += start;
    }
    for (std::size_t i = entries.size(); i-- > 0;) {
      indices_[--starts_[thread_of(entries[i])]] = static_cast<std::uint32_t>(i);
    }
  }

  std::span<const std::uint32_t> of(ActorId thread) const {
    return std::span(indices_).subspan(starts_[thread], starts_[thread + 1] - starts_[thread]);
  }

 private:
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> indices_;
};

}  // namespace offwait
