// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "unit/analysis/scene.h"

using namespace offwait;
using namespace offwait::test;

namespace {

/// A client that waits ten times, each time so long, for a packet of its service.
Findings waits_for(ActorKind waker, const Peer& peer, Nanos each_ms, int waits = 10) {
  Scene scene;
  const ActorId client = scene.thread("client", 11);
  const ActorId by = waker == ActorKind::thread ? scene.thread("server", 12) : scene.device(waker, "lo");
  for (int i = 0; i < waits; ++i) scene.wait(client, by, 100 * i, 100 * i + each_ms, WaitClass::net);
  scene.trace.peers = {peer};
  scene.trace.sites[0].peer = 0;
  return scene.findings();
}

const Peer kHere = {Peer::Role::service, "127.0.0.1", 7101};

}  // namespace

TEST_CASE("what TCP holds back ends after a delayed acknowledgement, by a packet that no thread sends") {
  const std::optional<HeldBack> held = waits_for(ActorKind::nic, kHere, 43).held_back;
  REQUIRE(held);
  CHECK(held->actor == 0);
  CHECK(held->service == kHere);
  CHECK(held->waits == 10);
  CHECK(held->wait_s == Approx(0.43));
  CHECK(held->share == Approx(0.43));
}

TEST_CASE(
    "answers that a thread sends, that come sooner or from elsewhere, or are requests, were not held back") {
  CHECK_FALSE(waits_for(ActorKind::thread, kHere, 43).held_back);
  CHECK_FALSE(waits_for(ActorKind::nic, kHere, 39).held_back);
  CHECK_FALSE(waits_for(ActorKind::nic, {Peer::Role::service, "10.0.0.5", 80}, 43).held_back);
  CHECK_FALSE(waits_for(ActorKind::nic, {Peer::Role::client, "127.0.0.1", 40000}, 43).held_back);
  CHECK_FALSE(waits_for(ActorKind::nic, kHere, 43, 2).held_back);  // 9 % of its life
}
