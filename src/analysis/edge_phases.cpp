// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/edge_phases.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graph/phases.h"

namespace offwait {

namespace {

constexpr std::uint32_t kNoEdge = UINT32_MAX;
/// Phases are looked for in edges whose waits take this part of the window or more.
constexpr double kPhased = 0.05;

/// By site: the edge that it is part of, if that one is long enough; else kNoEdge.
std::vector<std::uint32_t> long_edge_of_sites(const Trace& trace, const WaitGraph& graph) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, FoundEdgeId> long_edges;
  for (FoundEdgeId id = 0; id < graph.edges.size(); ++id) {
    const Edge& edge = graph.edges[id];
    if (!is_device(graph.kinds[edge.from]) &&
        to_seconds(edge.wait_ns) >= kPhased * to_seconds(trace.window.length())) {
      long_edges[{edge.from, edge.to}] = id;
    }
  }
  std::vector<std::uint32_t> out(trace.sites.size(), kNoEdge);
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.waker == kNoActor) {
      continue;
    }
    const auto edge = long_edges.find({graph.vertex_of[site.thread], graph.vertex_of[site.waker]});
    if (edge != long_edges.end()) {
      out[id] = edge->second;
    }
  }
  return out;
}

}  // namespace

std::map<FoundEdgeId, FoundPhases> find_phases(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  const std::vector<std::uint32_t> edge_of_site = long_edge_of_sites(trace, graph);
  std::map<FoundEdgeId, WaitsOverTime> over_time;
  for (const Wait& wait : trace.waits) {
    if (const std::uint32_t edge = edge_of_site[wait.site]; edge != kNoEdge) {
      const Nanos exit = trace.actors[trace.sites[wait.site].thread].exit;
      over_time.try_emplace(edge, trace.window).first->second.add(wait.block, std::min(wait.wake, exit));
    }
  }
  std::map<FoundEdgeId, FoundPhases> out;
  for (const auto& [edge, waits] : over_time) {
    const std::optional<Phases> found = waits.phases();
    if (!found) {
      continue;
    }
    FoundPhases& phases = out[edge];
    phases.share = static_cast<double>(found->wait_ns) / static_cast<double>(found->all_ns);
    phases.length_s = to_seconds(found->length_ns);
    for (const Window& range : found->ranges) {
      phases.ranges.push_back(
          {to_seconds(range.begin - trace.window.begin), to_seconds(range.end - trace.window.begin)});
    }
  }
  return out;
}

}  // namespace offwait
