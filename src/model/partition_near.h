// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

namespace offwait {

/// The number of entries for which `before(entry)` holds; they come first. The search begins at `guess`, any
/// number up to the size, and takes O(log of its distance to the result) steps: a caller whose questions are
/// nearly in order passes the last answer.
template <class Entry, class Before>
std::size_t partition_near(std::span<const Entry> entries, std::size_t guess, Before before) {
  std::size_t low = guess;   // the result is no less
  std::size_t high = guess;  // and no more
  for (std::size_t step = 1; low > 0 && !before(entries[low - 1]); step *= 2) {
    high = low - 1;
    low = high - std::min(high, step - 1);
  }
  const bool is_less = high < guess;
  for (std::size_t step = 1; !is_less && high < entries.size() && before(entries[high]); step *= 2) {
    low = high + 1;
    high = std::min(entries.size(), low + step - 1);
  }
  const auto rest = entries.subspan(low, high - low);
  return low + static_cast<std::size_t>(std::partition_point(rest.begin(), rest.end(), std::ref(before)) -
                                        rest.begin());
}

}  // namespace offwait
