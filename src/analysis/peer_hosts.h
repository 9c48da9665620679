// SPDX-License-Identifier: GPL-2.0-or-later
// The peers of an edge as a reader wants them: clients by host, because the port of a client tells nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

struct PeerHost {
  Peer::Role role = Peer::Role::service;
  std::string name;  ///< a service with its port, a client without; hostile bytes
  std::uint64_t waits = 0;
  std::size_t ports = 0;  ///< how many peers this stands for
};

/// In the order of the edge's peers: longest wait first.
std::vector<PeerHost> peer_hosts(const std::vector<FoundPeer>& peers);

}  // namespace offwait
