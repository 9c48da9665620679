// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/blocked_places.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

namespace offwait {

namespace {

/// What the waits of one place have in common: actor, class, the holder's tid and the stack.
using Place = std::tuple<FoundActorId, WaitClass, std::int32_t, std::reference_wrapper<const Backtrace>>;

struct PlaceLess {
  bool operator()(const Place& a, const Place& b) const {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a), std::get<3>(a).get()) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b), std::get<3>(b).get());
  }
};

}  // namespace

BlockedThreads blocked_threads(const Findings& findings) {
  std::map<Place, std::size_t, PlaceLess> index;
  BlockedThreads out;
  for (std::size_t i = 0; i < findings.open_waits.size(); ++i) {
    const FoundOpenWait& open = findings.open_waits[i];
    if (!open.throughout) {
      ++out.later;
      out.longest_later_s = std::max(out.longest_later_s, open.wait_s);
    } else if (findings.actors[open.actor].outside) {
      ++out.outside;
    } else {
      const Place place{open.actor, open.wait_class, open.holder ? open.holder->tid : 0,
                        std::cref(open.wait_stack)};
      const auto [at, inserted] = index.try_emplace(place, out.throughout.size());
      if (inserted) {
        out.throughout.push_back({i, 0});
      }
      ++out.throughout[at->second].threads;
    }
  }
  std::stable_partition(out.throughout.begin(), out.throughout.end(), [&findings](const BlockedPlace& place) {
    return findings.open_waits[place.open_wait].deadlock;
  });
  return out;
}

}  // namespace offwait
