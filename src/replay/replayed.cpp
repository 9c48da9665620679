// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/replayed.h"

#include <algorithm>

namespace offwait {

namespace {

void append(GroupTime& time, const GroupTime& other) {
  time.done_ns.insert(time.done_ns.end(), other.done_ns.begin(), other.done_ns.end());
  time.took_ns.insert(time.took_ns.end(), other.took_ns.begin(), other.took_ns.end());
}

}  // namespace

Replayed nothing_replayed(std::size_t scenarios, std::size_t pieces, std::size_t groups) {
  const std::vector<double> zeros(scenarios, 0.0);
  const std::vector<GroupTime> piece(groups, {zeros, zeros});
  return {scenarios,
          std::vector<std::vector<GroupTime>>(std::max<std::size_t>(pieces, 1), piece),
          {zeros, zeros}};
}

void add_scenarios(Replayed& all, const Replayed& part) {
  all.scenarios += part.scenarios;
  for (std::size_t piece = 0; piece < all.pieces.size(); ++piece) {
    for (std::size_t id = 0; id < all.pieces[piece].size(); ++id) {
      append(all.pieces[piece][id], part.pieces[piece][id]);
    }
  }
  append(all.thread, part.thread);
}

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
