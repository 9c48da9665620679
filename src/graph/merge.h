// SPDX-License-Identifier: GPL-2.0-or-later
// Merging similar threads into one actor (wPerf §4.2 "Merging similar threads", design.md §4).
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/sweep.h"
#include "model/trace.h"

namespace offwait {

/// A vertex of the graph after merging: one actor of the trace, or several similar threads.
struct Vertex {
  ActorId representative = kNoActor;  ///< its first member
  std::vector<ActorId> members;       ///< in order of id; one unless `group`
  ActorTime time;                     ///< sum over the members
};

struct Merged {
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> vertex_of;  ///< by ActorId, an index into vertices
  Graph graph;                           ///< edges between vertices: `from`/`to` are vertex indices
};

/// Every actor its own vertex.
Merged keep_apart(const Trace& trace, const Sweep& sweep, const Graph& graph);

/// Threads of one process whose names differ at most in digits, and whose distributions of wait time
/// over (wait stack, class) are similar (cosine of the two vectors ≥ 0.9 against the group's sum) become
/// one vertex. Edges inside become a self-loop. wait_ns, weight_ns and the like of a group edge are the
/// sum over all members divided by the members of the waiting vertex, so that weights stay comparable
/// with the window; `waits` is the plain sum.
Merged merge_similar(const Trace& trace, const Sweep& sweep, const Graph& graph);

}  // namespace offwait
