// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/remote_services.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace offwait {

std::vector<RemoteServices> find_remote_services(const Prepared& prepared, const WaitGraph& graph) {
  std::vector<RemoteServices> out(graph.vertices.size());
  std::map<std::pair<std::uint32_t, PeerId>, Nanos> waits;  // by interface and peer
  for (const Edge& edge : graph.edges) {
    if (graph.kinds[edge.to] != ActorKind::nic || graph.outside[edge.from]) {
      continue;
    }
    const PeerSum sum = target_waits(graph, edge, PeerKind::remote_service);
    out[edge.to].sum.wait_ns += sum.wait_ns;
    out[edge.to].sum.weight_ns += sum.weight_ns;
    for (const EdgePeer& peer : edge.peers) {
      if (graph.peer_kinds[peer.peer] == PeerKind::remote_service) {
        waits[{edge.to, peer.peer}] += peer.wait_ns;
      }
    }
  }
  for (const auto& [key, wait_ns] : waits) {
    out[key.first].services.push_back({prepared.trace.all().peers[key.second], to_seconds(wait_ns)});
  }
  for (RemoteServices& remote : out) {
    std::sort(remote.services.begin(), remote.services.end(),
              [](const RemoteService& a, const RemoteService& b) {
                return std::tie(b.wait_s, a.peer) < std::tie(a.wait_s, b.peer);
              });
  }
  return out;
}

}  // namespace offwait
