// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/peer_hosts.h"

#include <algorithm>

namespace offwait {

std::vector<PeerHost> peer_hosts(const std::vector<FoundPeer>& peers) {
  std::vector<PeerHost> hosts;
  for (const FoundPeer& peer : peers) {
    const Peer::Role role = peer.peer.role;
    const bool client = role == Peer::Role::client;
    const std::string name = client ? host_of(peer.peer) : to_string(peer.peer);
    auto host = std::find_if(hosts.begin(), hosts.end(), [&](const PeerHost& other) {
      return client && other.role == role && other.name == name;
    });
    if (host == hosts.end()) {
      host = hosts.insert(hosts.end(), {role, name, 0, 0});
    }
    host->waits += peer.waits;
    ++host->ports;
  }
  return hosts;
}

}  // namespace offwait
