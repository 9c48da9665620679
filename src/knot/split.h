// SPDX-License-Identifier: GPL-2.0-or-later
// How a graph falls apart when its edges are removed one after another.
//
// Searching anew for the edge that disconnects a knot after each disconnection costs vertices × edges:
// knots usually lose one vertex at a time. So all disconnections are found together: removal is bisected
// over the removal order, and at each bisection an edge goes either to the half where its ends are still
// in one component or to the half where they no longer are. Each edge takes part in one search for
// components per halving: O(E log E) in all.
#pragma once

#include <cstdint>
#include <vector>

#include "knot/scc.h"

namespace offwait {

/// Arcs are known by their position in the given order. After r removals the arcs r, r+1, … are left.
struct SplitTree {
  static constexpr std::uint32_t kLasts = UINT32_MAX;

  /// A set of vertices that is strongly connected for a while. Nodes 0 … vertices−1 are the single
  /// vertices; a node's children have smaller numbers than the node; the last node is the root: the whole
  /// graph, which counts as whole before the first removal only.
  struct Node {
    /// Falls apart at this many removals into its children (strong components of what is left of it).
    /// kLasts: not within the removals allowed, or a single vertex.
    std::uint32_t split = kLasts;
    std::vector<std::uint32_t> children;
    /// Ascending. Arcs < split: removed while the node was whole. Arcs ≥ split: between different children
    /// of a node that splits; left inside of one that lasts.
    std::vector<std::uint32_t> arcs;
  };
  std::vector<Node> nodes;
  /// By arc: for one between children of a node that splits, these children.
  std::vector<Arc> ends;
};

/// `removals` ≤ arcs.size(): how many arcs may be removed.
SplitTree split_tree(std::uint32_t vertices, const std::vector<Arc>& arcs, std::uint32_t removals);

}  // namespace offwait
