// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/peer_kinds.h"

namespace offwait {

std::vector<PeerKind> kinds_of_peers(const Trace& trace) {
  std::vector<PeerKind> kinds;
  for (const Peer& peer : trace.peers) {
    kinds.push_back(peer.role == Peer::Role::client ? PeerKind::request : PeerKind::remote_service);
  }
  for (const WaitSite& site : trace.sites) {
    if (site.peer == kNoPeer || site.waker == kNoActor ||
        trace.actors[site.waker].kind != ActorKind::thread) {
      continue;
    }
    PeerKind& kind = kinds[site.peer];
    if (kind == PeerKind::remote_service || !trace.actors[site.waker].outside) {
      kind = PeerKind::known;
    }
  }
  return kinds;
}

PeerSum sum_of_kind(const Edge& edge, const std::vector<PeerKind>& kinds, PeerKind kind) {
  PeerSum sum;
  for (const EdgePeer& peer : edge.peers) {
    if (kinds[peer.peer] == kind) {
      sum.wait_ns += peer.wait_ns;
      sum.weight_ns += peer.weight_ns;
    }
  }
  return sum;
}

}  // namespace offwait
