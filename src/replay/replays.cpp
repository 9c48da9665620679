// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/replays.h"

#include <algorithm>

namespace offwait {

/// Divides the times of each scenario by those of the last one, which changes nothing.
void relate_to_last(Replayed& replayed) {
  const auto relate = [](GroupTime& time) {
    const double speed = time.took_ns.back() > 0 ? time.done_ns.back() / time.took_ns.back() : 1;
    for (double& took : time.took_ns) {
      took *= speed;
    }
  };
  for (std::vector<GroupTime>& piece : replayed.pieces) {
    std::for_each(piece.begin(), piece.end(), relate);
  }
  relate(replayed.thread);
}

}  // namespace offwait
