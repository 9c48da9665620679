// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/scc.h"

#include <algorithm>
#include <cstddef>

namespace offwait {

Components strong_components(std::uint32_t vertices, const std::vector<Arc>& arcs) {
  std::vector<std::size_t> first(std::size_t{vertices} + 1, 0);
  for (const Arc& arc : arcs) {
    ++first[std::size_t{arc.from} + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) {
    first[v + 1] += first[v];
  }
  std::vector<std::uint32_t> targets(arcs.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (const Arc& arc : arcs) {
    targets[next[arc.from]++] = arc.to;
  }
  std::copy(first.begin(), first.end() - 1, next.begin());

  constexpr std::uint32_t kUnassigned = UINT32_MAX;
  Components result{0, std::vector<std::uint32_t>(vertices, kUnassigned)};
  std::vector<std::uint32_t> order(vertices, 0);  // 1-based order of discovery; 0: not yet seen
  std::vector<std::uint32_t> low(vertices, 0);
  std::vector<std::uint32_t> open;  // seen, component not yet known
  std::vector<std::uint32_t> path;
  std::uint32_t seen = 0;
  const auto enter = [&](std::uint32_t vertex) {
    order[vertex] = low[vertex] = ++seen;
    open.push_back(vertex);
    path.push_back(vertex);
  };

  for (std::uint32_t root = 0; root < vertices; ++root) {
    if (order[root] != 0) {
      continue;
    }
    enter(root);
    while (!path.empty()) {
      const std::uint32_t vertex = path.back();
      if (next[vertex] < first[std::size_t{vertex} + 1]) {
        const std::uint32_t target = targets[next[vertex]++];
        if (order[target] == 0) {
          enter(target);
        } else if (result.of[target] == kUnassigned) {
          low[vertex] = std::min(low[vertex], order[target]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        low[path.back()] = std::min(low[path.back()], low[vertex]);
      }
      if (low[vertex] != order[vertex]) {
        continue;
      }
      std::uint32_t member = 0;
      do {
        member = open.back();
        open.pop_back();
        result.of[member] = result.count;
      } while (member != vertex);
      ++result.count;
    }
  }
  return result;
}

}  // namespace offwait
