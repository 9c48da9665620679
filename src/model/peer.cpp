// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/peer.h"

namespace offwait {

std::string host_of(const Peer& peer) {
  const bool ipv6 = peer.port && peer.address.find(':') != std::string::npos;
  return ipv6 ? "[" + peer.address + "]" : peer.address;
}

std::string to_string(const Peer& peer) {
  if (!peer.port) return peer.address;
  return host_of(peer) + ":" + (*peer.port == kAnyPort ? "*" : std::to_string(*peer.port));
}

}  // namespace offwait
