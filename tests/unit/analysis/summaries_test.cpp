// SPDX-License-Identifier: GPL-2.0-or-later
// What renderers add up before they show it.
#include <catch2/catch.hpp>

#include "analysis/blocked_places.h"
#include "analysis/peer_hosts.h"

using namespace offwait;

namespace {

FoundOpenWait open_wait(FoundActorId actor, double wait_s, const std::string& function) {
  FoundOpenWait out;
  out.actor = actor;
  out.wait_s = wait_s;
  out.throughout = true;
  out.wait_stack.frames = {{.function = function}};
  return out;
}

}  // namespace

TEST_CASE("blocked threads by actor, class, holder and stack; deadlocks come first") {
  Findings findings;
  findings.actors.resize(3);
  findings.actors[2].outside = true;
  findings.open_waits = {open_wait(0, 9, "f"), open_wait(0, 8, "g"), open_wait(0, 7, "f"),
                         open_wait(1, 6, "f"), open_wait(2, 5, "f"), open_wait(0, 4, "f"),
                         open_wait(0, 3, "f"), open_wait(0, 2, "f")};
  findings.open_waits[3].deadlock = true;
  findings.open_waits[5].wait_class = WaitClass::futex;
  findings.open_waits[6].throughout = findings.open_waits[7].throughout = false;
  const BlockedThreads blocked = blocked_threads(findings);
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const BlockedPlace& place : blocked.throughout) {
    places.emplace_back(place.open_wait, place.threads);
  }
  CHECK(places == std::vector<std::pair<std::size_t, std::size_t>>{{3, 1}, {0, 2}, {1, 1}, {5, 1}});
  CHECK(blocked.outside == 1);
  CHECK(blocked.later == 2);
  CHECK(blocked.longest_later_s == 3);
}

TEST_CASE("clients by host, services by port") {
  const std::vector<PeerHost> hosts = peer_hosts({{{Peer::Role::service, "10.0.0.5", 3306}, 5, 9},
                                                  {{Peer::Role::client, "10.0.0.9", 40001}, 3, 8},
                                                  {{Peer::Role::service, "10.0.0.5", 3307}, 1, 7},
                                                  {{Peer::Role::client, "10.0.0.9", 40002}, 4, 6}});
  REQUIRE(hosts.size() == 3);
  CHECK(hosts[0].name == "10.0.0.5:3306");
  CHECK(hosts[1].name == "10.0.0.9");
  CHECK(hosts[1].waits == 7);
  CHECK(hosts[1].ports == 2);
  CHECK(hosts[2].name == "10.0.0.5:3307");
  CHECK(hosts[2].ports == 1);
}
