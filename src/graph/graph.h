// SPDX-License-Identifier: GPL-2.0-or-later
// The weighted wait-for graph (wPerf §3.1, doc/design.md "Terms").
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "graph/sweep.h"
#include "model/trace.h"

namespace offwait {

/// The part of an edge whose waits have the same pair of stacks and the same class.
struct EdgeStack {
  StackId wait_stack = kNoStack;
  StackId waker_stack = kNoStack;
  WaitClass wait_class = WaitClass::other;
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  Nanos weight_ns = 0;
  /// Where chance decided which waits have stacks: variance of wait_ns, as estimated for the estimator of
  /// Horvitz and Thompson (event/left_out_stacks.h, whose own sums vary less). In ns².
  double variance = 0;
};

/// The part of an edge whose waits were on sockets with one peer.
struct EdgePeer {
  PeerId peer = kNoPeer;
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  Nanos weight_ns = 0;
};

/// An edge from→to: `from` waited and `to` woke it. In an idle edge `from` is a device that waits for the
/// next request of `to`.
struct Edge : SiteSum {
  ActorId from = kNoActor;
  ActorId to = kNoActor;
  Nanos plain_ns = 0;  ///< total length of all `waits`; unlike wait_ns it is not divided for a group
  std::array<Nanos, kWaitClasses> class_wait_ns{};  ///< wait_ns by wait class; all 0 on idle edges
  std::vector<EdgeStack> stacks;                    ///< by weight, heaviest first
  std::vector<EdgePeer> peers;                      ///< by wait_ns, longest first
};

/// There is at most one edge for each ordered pair of actors. Edges are heaviest first, then in order of
/// (from, to).
struct Graph {
  std::vector<Edge> edges;
};

/// Sums the sites by (thread, waker). Sites without a known waker make no edge.
Graph build_graph(const Trace& trace, const Sweep& sweep);

/// Adds up entries with the same peer and restores the order.
void join_peers(std::vector<EdgePeer>& peers);

/// Adds edges that are not in the graph yet (idle edges of devices) and restores its order.
void add_edges(Graph& graph, std::vector<Edge> edges);

}  // namespace offwait
