// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/peer.h"

#include <array>
#include <string>

#include <arpa/inet.h>

namespace offwait {

Peer peer_of(const offwait_peer& noted, const std::set<std::uint16_t>& served_ports) {
  Peer peer;
  const bool client = noted.accepted != 0 || served_ports.contains(noted.local_port);
  peer.role = client ? Peer::Role::client : Peer::Role::service;
  const bool ipv4 = noted.address[0] == 0 && noted.address[1] == 0 && noted.address[2] == htonl(0xffff);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (ipv4) {
    ::inet_ntop(AF_INET, &noted.address[3], text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, &noted.address, text.data(), text.size());
  }
  peer.address = text.data();
  peer.port = noted.port == 0 ? kAnyPort : noted.port;
  return peer;
}

}  // namespace offwait
