// SPDX-License-Identifier: GPL-2.0-or-later
// Merging similar threads into one actor (wPerf §4.2 "Merging similar threads", doc/design.md "Graph").
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/short_lived.h"
#include "graph/sweep.h"
#include "model/trace.h"

namespace offwait {

/// A vertex of the graph after merging: one actor of the trace, or several similar threads.
struct Vertex {
  ActorId representative = kNoActor;  ///< its first member
  std::vector<ActorId> members;       ///< in order of id; more than one only in a group of threads
  ActorTime time;                     ///< sum over the members
  bool short_lived = false;           ///< one virtual thread made of threads that follow each other
  // Only of those:
  Nanos alive_ns = 0;  ///< at least one member lives
  Nanos busy_ns = 0;   ///< at least one member is running or runnable
};

struct Merged {
  std::vector<Vertex> vertices;          ///< in order of representative
  std::vector<std::uint32_t> vertex_of;  ///< by ActorId (stand-ins included), an index into vertices
  Graph graph;                           ///< edges between vertices: `from`/`to` are vertex indices
};

/// Every actor its own vertex, with the same number. `with` has no stand-ins.
Merged keep_apart(const TraceWithStandIns& with, const Sweep& sweep, const Graph& graph);

/// Threads of one process (and all `outside` or none) whose names differ at most in digits, and whose
/// distributions of wait time over (wait stack, class) are similar (cosine of the two vectors ≥ 0.9 against
/// the group's sum), and who are about as busy (their share of running or runnable time at most 0.3 from the
/// group's mean), become one vertex; but threads that are running or runnable for kAlwaysReady of the window
/// only with each other: the last one at a barrier must not hide among those that wait for it.
/// How busy they are counts because the threads of an idle pool wait in the same place as busy ones: merged
/// with them, MariaDB's wait for the disk fell under the threshold.
/// Threads that never waited are similar to each other only. A thread without a name or whose process is not
/// known (tgid 0) stays alone. Edges inside become a self-loop. wait_ns, weight_ns and the like of a group
/// edge and its stacks are the sum over all members divided by the members of the waiting vertex, each
/// rounded down, so that weights stay comparable with the window; `waits` and plain_ns are plain sums.
///
/// The threads of each of `with.groups()` become one vertex, whatever their waits. Its edges are the members'
/// waits divided by how many members live at a time (the sum of their lifetimes ÷ alive_ns), and to these
/// are added, undivided, the waits of its stand-in: while none lives it waits for the creator of the next.
Merged merge_similar(const TraceWithStandIns& with, const Sweep& sweep, const Graph& graph);

}  // namespace offwait
