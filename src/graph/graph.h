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

/// The part of an edge that has one pair of stacks.
struct EdgeStack {
  StackId wait_stack = kNoStack;
  StackId waker_stack = kNoStack;
  WaitClass wait_class = WaitClass::other;
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  Nanos weight_ns = 0;
};

/// The part of an edge whose waits were on sockets with one peer.
struct EdgePeer {
  PeerId peer = kNoPeer;
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  Nanos weight_ns = 0;
};

/// A→B: A waited and B woke it. For an idle edge (from a device) A is the device that waits for B's
/// next request.
struct Edge : SiteSum {
  ActorId from = kNoActor;
  ActorId to = kNoActor;
  Nanos plain_ns = 0;  ///< as wait_ns, but of a group not divided either: so long are all `waits` together
  std::array<Nanos, kWaitClasses> class_wait_ns{};  ///< wait_ns by wait class; all 0 on idle edges
  std::vector<EdgeStack> stacks;                    ///< by weight, heaviest first
  std::vector<EdgePeer> peers;                      ///< by wait_ns, longest first
};

/// At most one edge per ordered pair of actors, by weight, heaviest first; ties by (from, to).
struct Graph {
  std::vector<Edge> edges;
};

/// Sums the sites by (thread, waker). Sites without a known waker make no edge.
Graph build_graph(const Trace& trace, const Sweep& sweep);

/// Equal peers become one; restores the order.
void join_peers(std::vector<EdgePeer>& peers);

/// Adds edges (idle edges of devices) that are not in the graph yet and restores its order.
void add_edges(Graph& graph, std::vector<Edge> edges);

}  // namespace offwait
