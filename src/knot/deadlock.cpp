// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/deadlock.h"

#include <algorithm>

namespace offwait {

std::vector<std::vector<std::uint32_t>> deadlocks(const std::vector<std::uint32_t>& holder) {
  std::vector<std::vector<std::uint32_t>> circles;
  std::vector<std::uint32_t> seen_from(holder.size(), kHoldsNothing);
  for (std::uint32_t start = 0; start < holder.size(); ++start) {
    std::uint32_t at = start;
    while (at != kHoldsNothing && seen_from[at] == kHoldsNothing) {
      seen_from[at] = start;
      at = holder[at];
    }
    // If the way from `start` has come back to itself, it has entered a circle, at any of its threads.
    if (at == kHoldsNothing || seen_from[at] != start) continue;
    std::uint32_t smallest = at;
    for (std::uint32_t next = holder[at]; next != at; next = holder[next]) {
      smallest = next < smallest ? next : smallest;
    }
    std::vector<std::uint32_t>& circle = circles.emplace_back(1, smallest);
    for (std::uint32_t next = holder[smallest]; next != smallest; next = holder[next]) {
      circle.push_back(next);
    }
  }
  std::sort(circles.begin(), circles.end());
  return circles;
}

}  // namespace offwait
