// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/remote_services.h"

#include <catch2/catch.hpp>

#include "unit/analysis/scene.h"

using namespace offwait;
using test::Scene;

namespace {

std::vector<RemoteServices> services_of(const Scene& scene) {
  const Result<Prepared> prepared = prepare(scene.trace, {});
  if (!prepared.ok()) {
    FAIL(prepared.error().message);
  }
  return find_remote_services(*prepared, build_wait_graph(*prepared, true));
}

/// A wait for the peer that a packet through `nic` ends.
void ask(Scene& scene, ActorId who, ActorId nic, PeerId peer, Nanos from_ms, Nanos to_ms) {
  scene.trace.sites.push_back({who, nic, WaitClass::net, kNoStack, kNoStack, false, peer});
  const auto site = static_cast<SiteId>(scene.trace.sites.size() - 1);
  scene.trace.waits.push_back({site, kNoObject, from_ms * test::kMs, to_ms * test::kMs, to_ms * test::kMs});
}

}  // namespace

TEST_CASE("only services that nobody here answers for count, and only what the target waits for") {
  Scene scene;
  const ActorId asker = scene.thread("asker", 1);
  const ActorId stranger = scene.thread("stranger", 2, 2);
  const ActorId local = scene.thread("local", 3, 3);
  const ActorId nic = scene.device(ActorKind::nic, "eth0");
  scene.trace.actors[stranger].outside = scene.trace.actors[local].outside = true;
  scene.trace.peers = {{Peer::Role::service, "db", 1},
                       {Peer::Role::service, "cache", 1},
                       {Peer::Role::service, "local", 1},
                       {Peer::Role::client, "client", 1},
                       {Peer::Role::service, "other", 1}};
  ask(scene, asker, nic, 0, 0, 100);
  ask(scene, asker, nic, 1, 100, 400);
  ask(scene, asker, nic, 2, 400, 500);
  ask(scene, asker, local, 2, 500, 510);
  ask(scene, asker, nic, 3, 510, 600);
  ask(scene, stranger, nic, 0, 0, 900);
  ask(scene, stranger, nic, 4, 900, 990);

  const std::vector<RemoteServices> services = services_of(scene);
  REQUIRE(services.size() == 4);
  CHECK(services[asker].services.empty());
  CHECK(services[nic].sum.wait_ns == 400 * test::kMs);
  REQUIRE(services[nic].services.size() == 2);
  CHECK(services[nic].services[0].peer.address == "cache");
  CHECK(services[nic].services[0].wait_s == Approx(0.3));
  CHECK(services[nic].services[1].peer.address == "db");
  CHECK(services[nic].services[1].wait_s == Approx(0.1));

  // The sink, the verdict and the services named are one and the same.
  const Findings findings = scene.findings();
  REQUIRE(findings.verdict.remote);
  CHECK(findings.verdict.remote->longest.address == "cache");
  CHECK(findings.verdict.remote->others == 1);
  CHECK(findings.verdict.remote->wait_s == Approx(0.4));
}

TEST_CASE("what only strangers wait for is no limit") {
  Scene scene;
  const ActorId stranger = scene.thread("stranger", 2, 2);
  const ActorId own = scene.thread("own", 1);
  const ActorId nic = scene.device(ActorKind::nic, "eth0");
  scene.trace.actors[stranger].outside = true;
  scene.trace.peers = {{Peer::Role::service, "db", 1}};
  ask(scene, stranger, nic, 0, 0, 900);
  scene.wait(own, stranger, 0, 950);
  CHECK(services_of(scene)[nic].services.empty());
  CHECK_FALSE(scene.findings().verdict.remote);
}
