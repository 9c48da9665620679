// SPDX-License-Identifier: GPL-2.0-or-later
// How a graph splits when its edges are removed one after another.
//
// To search again after each split for the edge that makes the next one costs vertices × edges, since knots
// usually lose one vertex at a time. So all splits are found together, by bisection of the order of removal:
// at each step an edge goes to the half in which its ends are still in one component, or to the half in which
// they no longer are. Each edge takes part in one search for components per step, so all takes O(E log E)
// time.
#pragma once

#include <cstdint>
#include <vector>

#include "knot/scc.h"

namespace offwait {

/// Arcs are identified by their position in the given order. After r removals the arcs r, r+1, … are left.
struct SplitTree {
  static constexpr std::uint32_t kLasts = UINT32_MAX;

  /// A set of vertices that is strongly connected until some removal. Nodes 0 … vertices−1 are the single
  /// vertices. A node's children have smaller numbers than the node. The last node is the root: the whole
  /// graph, which counts as connected only before the first removal.
  struct Node {
    /// After this many removals the node splits into its children, the strong components of its remaining
    /// arcs. kLasts if it does not split within the removals allowed, or is a single vertex.
    std::uint32_t split = kLasts;
    std::vector<std::uint32_t> children;
    /// Ascending. Arcs < split were removed while the node was connected. Arcs ≥ split lead between different
    /// children of a node that splits, or remain inside a node that lasts.
    std::vector<std::uint32_t> arcs;
  };
  std::vector<Node> nodes;
  /// By arc: the children that it leads between, if it is between children of a node that splits.
  std::vector<Arc> ends;
};

/// `removals` is the number of arcs that may be removed, at most arcs.size().
SplitTree split_tree(std::uint32_t vertices, const std::vector<Arc>& arcs, std::uint32_t removals);

}  // namespace offwait
