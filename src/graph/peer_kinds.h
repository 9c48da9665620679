// SPDX-License-Identifier: GPL-2.0-or-later
// What it means to wait for a peer: for a request from outside of the target, for a service outside of this
// host, or for somebody whom the recording knows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "graph/graph.h"
#include "model/trace.h"

namespace offwait {

enum class PeerKind : std::uint8_t {
  known,           ///< the threads at the other end are recorded, and take part like any other
  request,         ///< a client outside of the target, on this host or not: who waits has nothing to do
  remote_service,  ///< a service whose answers none of this host's threads sent
};

/// By PeerId. A client is outside of the target when no thread of the target ended a wait on its connection,
/// a service outside of the host when no thread at all did.
std::vector<PeerKind> kinds_of_peers(const Trace& trace);

/// The part of an edge whose waits were for peers of this kind.
struct PeerSum {
  Nanos wait_ns = 0;
  Nanos weight_ns = 0;
};
PeerSum sum_of_kind(const Edge& edge, const std::vector<PeerKind>& kinds, PeerKind kind);

}  // namespace offwait
