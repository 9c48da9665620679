// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <set>

#include "model/trace.h"
#include "offwait/event.h"

namespace offwait {

/// A peer as the kernel noted it, named. Which side asked is known of a connection that was accepted; else by
/// the port of this side: a port that something listens to is one that others ask.
Peer peer_of(const offwait_peer& noted, const std::set<std::uint16_t>& served_ports);

}  // namespace offwait
