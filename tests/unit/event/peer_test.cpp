// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/peer.h"

#include <catch2/catch.hpp>
#include <string>

#include <arpa/inet.h>

#include "event/assemble.h"
#include "recordings.h"

namespace offwait {
namespace {

offwait_peer noted(const char* address, std::uint16_t port, std::uint16_t local_port, bool accepted = false) {
  offwait_peer peer{};
  REQUIRE(::inet_pton(AF_INET6, address, &peer.address) == 1);
  peer.port = port;
  peer.local_port = local_port;
  peer.accepted = accepted ? 1 : 0;
  return peer;
}

TEST_CASE("peers are named by address and port, IPv4 also through IPv6") {
  CHECK(to_string(peer_of(noted("::ffff:10.0.0.5", 3306, 40312), {})) == "10.0.0.5:3306");
  CHECK(to_string(peer_of(noted("2001:db8::1", 443, 40312), {})) == "[2001:db8::1]:443");
  CHECK(to_string(peer_of(noted("::1", 1, 2), {})) == "[::1]:1");
  CHECK(to_string(peer_of(noted("::ffff:10.0.0.5", 0, 40312), {})) == "10.0.0.5:*");
}

TEST_CASE("a peer is a client when its connection was accepted or came to a port that is listened to") {
  using Role = Peer::Role;
  CHECK(peer_of(noted("::ffff:10.0.0.5", 40312, 0, true), {}).role == Role::client);
  CHECK(peer_of(noted("::ffff:10.0.0.5", 40312, 80), {80}).role == Role::client);
  CHECK(peer_of(noted("::ffff:10.0.0.5", 40312, 80), {81}).role == Role::service);
}

TEST_CASE("waits have their peers; peers that differ only in this side's port are one") {
  test::RecordingByHand by_hand(1000, 10000);
  by_hand.seen(11, 500, 1000);
  by_hand.recording.peers = {{1, noted("::ffff:10.0.0.5", 3306, 40001)},
                             {2, noted("::ffff:10.0.0.5", 3306, 40002)},
                             {3, noted("::ffff:10.0.0.7", 50000, 80)}};
  by_hand.recording.served_ports = {80};
  std::uint64_t at = 2000;
  for (const std::uint32_t id : {1U, 2U, 3U, 4U}) {
    offwait_wait wait = test::wait_of(11, at, at + 100, at + 100, test::kTimer);
    wait.object = id;
    wait.flags = OFFWAIT_OBJECT_PEER << OFFWAIT_OBJECT_SHIFT;
    by_hand.append(wait);
    at += 1000;
  }
  offwait_wait futex = test::wait_of(11, at, at + 100, at + 100, test::kTimer);
  futex.object = 0x7008;
  futex.flags = OFFWAIT_OBJECT_FUTEX << OFFWAIT_OBJECT_SHIFT;
  by_hand.append(futex);
  const Trace trace = by_hand.trace();
  CHECK(trace.peers ==
        std::vector<Peer>{{Peer::Role::service, "10.0.0.5", 3306}, {Peer::Role::client, "10.0.0.7", 50000}});
  REQUIRE(trace.waits.size() == 5);
  const auto peer = [&](std::size_t wait) { return trace.sites[trace.waits[wait].site].peer; };
  CHECK(peer(0) == 0);
  CHECK(peer(1) == 0);
  CHECK(peer(2) == 1);
  CHECK(peer(3) == kNoPeer);  // an id that the kernel's table does not have
  CHECK(peer(4) == kNoPeer);
  CHECK(trace.waits[2].object == kNoObject);
  REQUIRE(trace.waits[4].object == 0);
  CHECK(trace.objects.at(0).address == 0x7008);
}

}  // namespace
}  // namespace offwait
