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
  // Set only if short_lived:
  Nanos alive_ns = 0;  ///< time in which at least one member lives
  Nanos busy_ns = 0;   ///< time in which at least one member is running or runnable
};

struct Merged {
  std::vector<Vertex> vertices;          ///< in order of representative
  std::vector<std::uint32_t> vertex_of;  ///< by ActorId (stand-ins included), an index into vertices
  Graph graph;                           ///< edges between vertices: `from`/`to` are vertex indices
};

/// Makes each actor a vertex of its own, with the same number. `with` must have no stand-ins.
Merged without_merging(const TraceWithStandIns& with, const Sweep& sweep, const Graph& graph);

/// Merges similar threads into one vertex. Threads are similar if all of this holds:
/// - they are of one kind (thread_kinds.h), and belong to one process, or to several that are known to run
///   one program;
/// - their wait time is distributed similarly over (wait stack, class): the cosine of a thread's vector and
///   the group's sum is ≥ 0.9. Threads that never waited are similar only to each other;
/// - they are about as busy: a thread's share of running or runnable time differs at most by 0.3 from the
///   group's mean. Without this, the threads of an idle pool were merged with busy ones that wait in the
///   same place, and MariaDB's wait for the disk fell under the threshold;
/// - they are all running or runnable for kAlwaysReady of the window, or none is: the last thread at a
///   barrier must not hide among those that wait for it.
/// A thread without a name, or whose process is not known (tgid 0), stays alone.
///
/// Edges inside a group become a self-loop. wait_ns, weight_ns and the like of a group's edge and its stacks
/// are the sum over all members, divided by the number of members of the waiting vertex and rounded down. So
/// weights stay comparable with the window: a wait of 1 % by each of 32 independent threads does not count as
/// a third of it. `waits` and plain_ns are plain sums.
///
/// The threads of each of `with.groups()` also become one vertex, whatever their waits. Its edges are the
/// waits of the members, divided by the mean number of members that live at a time (the sum of their
/// lifetimes ÷ alive_ns), plus the undivided waits of its stand-in: while no member lives, it waits for the
/// creator of the next one.
Merged merge_similar(const TraceWithStandIns& with, const Sweep& sweep, const Graph& graph);

}  // namespace offwait
