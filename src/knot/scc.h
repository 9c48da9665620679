// SPDX-License-Identifier: GPL-2.0-or-later
// Strongly connected components of a directed graph by Tarjan's algorithm, without recursion: a chain of
// 100,000 vertices must not need a stack of 100,000 frames.
#pragma once

#include <cstdint>
#include <vector>

namespace offwait {

struct Arc {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

struct Components {
  std::uint32_t count = 0;
  /// By vertex. Numbered in reverse topological order: an arc between two components leads from the
  /// higher number to the lower one.
  std::vector<std::uint32_t> of;
};

/// Arcs must be between vertices < `vertices`; self-loops and parallel arcs are allowed. Takes O(vertices +
/// arcs) time. The numbering may depend on the order of the arcs.
Components strong_components(std::uint32_t vertices, const std::vector<Arc>& arcs);

}  // namespace offwait
