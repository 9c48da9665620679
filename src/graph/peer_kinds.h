// SPDX-License-Identifier: GPL-2.0-or-later
// Kinds of peers. A thread that waits for a peer waits for a request from outside of the target, for a
// service outside of this host, or for recorded threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "graph/graph.h"
#include "model/trace.h"

namespace offwait {

enum class PeerKind : std::uint8_t {
  known,    ///< threads at the other end are recorded, and are in the graph like any other
  request,  ///< a client outside of the target, on any host: a thread that waits for it has nothing to do
  remote_service,  ///< a service whose answers no thread of this host sent
};

/// The kinds by PeerId. A client is outside of the target if no thread of the target ended a wait on its
/// connection. A service is outside of the host if no thread at all did.
std::vector<PeerKind> kinds_of_peers(const Trace& trace);

/// The part of an edge whose waits were for peers of one kind.
struct PeerSum {
  Nanos wait_ns = 0;
  Nanos weight_ns = 0;
};
PeerSum sum_of_kind(const Edge& edge, const std::vector<PeerKind>& kinds, PeerKind kind);

}  // namespace offwait
