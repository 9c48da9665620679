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
  CHECK_FALSE(held->asked);
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

namespace {

/// Ten times a client asks a service in two packets, and waits 42 ms for the answer. The service waits for
/// the second packet, which comes `late_ms` after the client's wait began, and then, if it `asks`, for a
/// third.
Findings asks_in_two_packets(Nanos late_ms, ActorKind sender, bool asks = false) {
  Scene scene;
  const ActorId client = scene.thread("client", 11);
  const ActorId server = scene.thread("server", 12, 2);
  scene.trace.actors[server].outside = true;
  const ActorId other = scene.thread("other", 13);
  const ActorId by = sender == ActorKind::thread ? other : scene.device(sender, "lo");
  for (int i = 0; i < 10; ++i) {
    scene.wait(client, server, 100 * i, 100 * i + 46, WaitClass::net);
    scene.wait(server, by, 100 * i + 1, 100 * i + late_ms, WaitClass::poll);
    if (asks) scene.wait(server, other, 100 * i + 44, 100 * i + 45, WaitClass::poll);
  }
  scene.trace.peers = {kHere, {Peer::Role::client, "127.0.0.1", 40000}};
  scene.trace.sites[0].peer = 0;
  scene.trace.sites[1].peer = 1;
  return scene.findings();
}

}  // namespace

TEST_CASE(
    "a request is held back if who answers it waits for its second packet, which no thread sends then") {
  const Findings findings = asks_in_two_packets(43, ActorKind::nic);
  const std::optional<HeldBack>& held = findings.held_back;
  REQUIRE(held);
  CHECK(findings.actors[held->actor].name == "client");
  CHECK(held->asked);
  CHECK(held->service == kHere);
  CHECK(held->waits == 10);
  CHECK(held->wait_s == Approx(0.42));
  CHECK(held->share == Approx(0.42));
}

TEST_CASE("a request that a thread sends, that comes sooner, or is not what was waited for at last, is not") {
  CHECK_FALSE(asks_in_two_packets(43, ActorKind::thread).held_back);
  CHECK_FALSE(asks_in_two_packets(40, ActorKind::nic).held_back);
  CHECK_FALSE(asks_in_two_packets(43, ActorKind::nic, true).held_back);
}
