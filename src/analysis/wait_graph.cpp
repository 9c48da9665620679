// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/wait_graph.h"

#include <utility>

#include "analysis/samples.h"
#include "base/side_by_side.h"
#include "graph/graph.h"

namespace offwait {

WaitGraph build_wait_graph(const Prepared& prepared, bool merge) {
  const Trace& trace = prepared.trace.all();
  WaitGraph out;
  Graph graph;
  std::vector<Edge> idle;
  side_by_side(
      [&] {
        out.disks = disk_use(trace);
        idle = idle_edges(trace, out.disks);
      },
      [&] {
        out.peer_kinds = kinds_of_peers(trace);
        out.nics = nic_use(trace);
        graph = build_graph(trace, prepared.sweep);
      });
  add_edges(graph, std::move(idle));
  Merged merged = merge ? merge_similar(prepared.trace, prepared.sweep, graph)
                        : without_merging(prepared.trace, prepared.sweep, graph);
  out.vertices = std::move(merged.vertices);
  out.vertex_of = std::move(merged.vertex_of);
  out.edges = std::move(merged.graph.edges);
  for (const Vertex& vertex : out.vertices) {
    const Actor& first = trace.actors[vertex.representative];
    out.kinds.push_back(vertex.members.size() > 1 ? ActorKind::group : first.kind);
    out.outside.push_back(first.outside);
    out.below_devices.push_back(vertex.representative < prepared.below_devices.size() &&
                                prepared.below_devices[vertex.representative]);
  }
  out.samples = sum_cpu_samples(trace, out.vertex_of, out.vertices.size());
  out.code = sampled_code(trace);
  return out;
}

PeerSum target_waits(const WaitGraph& graph, const Edge& edge, PeerKind kind) {
  return graph.outside[edge.from] ? PeerSum{} : sum_of_kind(edge, graph.peer_kinds, kind);
}

}  // namespace offwait
