// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <set>

#include "model/trace.h"
#include "offwait/event.h"

namespace offwait {

/// The name of a peer that the kernel noted, and its role. A connection that was accepted is a client's. For
/// other sockets this side's port decides: if something listens to it (`served_ports`), others ask there and
/// the peer is a client, else a service.
Peer peer_of(const offwait_peer& noted, const std::set<std::uint16_t>& served_ports);

}  // namespace offwait
