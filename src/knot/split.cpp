// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/split.h"

#include <cstddef>
#include <utility>

namespace offwait {
namespace {

struct LiveArc {
  std::uint32_t from = 0;  // node
  std::uint32_t to = 0;    // node; equal to `from` once both ends are known to outlive the arc together
  std::uint32_t position = 0;
};

struct Part {
  std::vector<std::uint32_t> nodes;
  std::vector<LiveArc> arcs;
};

class Splitter {
 public:
  Splitter(std::uint32_t vertices, std::size_t arcs) : home_(arcs) {
    tree_.nodes.resize(vertices);
    tree_.ends.resize(arcs);
    local_.resize(vertices);
  }

  SplitTree run(const Part& whole, std::uint32_t removals) {
    // Components that are left after the last removal are contracted first, as they never split.
    Halves halves = cut(whole, removals);
    for (Part& part : halves.late) {
      if (part.nodes.size() == 1) {
        halves.roots.push_back(settle(part, part.nodes[0]));
      } else {
        halves.roots.push_back(settle(part, add_node(SplitTree::kLasts, part.nodes)));
      }
    }
    solve(-1, removals, early_part(whole, halves, removals));
    for (std::uint32_t arc = 0; arc < home_.size(); ++arc) {
      tree_.nodes[home_[arc]].arcs.push_back(arc);
    }
    return std::move(tree_);
  }

 private:
  struct Halves {
    std::vector<std::uint32_t> component;  // by position in the part's nodes
    std::vector<Part> late;                // by component: the part inside it, after the middle
    std::vector<std::uint32_t> roots;      // by component: its node
  };

  // The part's components at `middle` removals, each with its own arcs that are left then.
  Halves cut(const Part& part, std::uint32_t middle) {
    for (std::uint32_t i = 0; i < part.nodes.size(); ++i) {
      local_[part.nodes[i]] = i;
    }
    std::vector<Arc> left;
    for (const LiveArc& arc : part.arcs) {
      if (arc.position >= middle) {
        left.push_back({local_[arc.from], local_[arc.to]});
      }
    }
    Components components = strong_components(static_cast<std::uint32_t>(part.nodes.size()), left);
    Halves halves;
    halves.component = std::move(components.of);
    halves.late.resize(components.count);
    for (std::size_t i = 0; i < part.nodes.size(); ++i) {
      halves.late[halves.component[i]].nodes.push_back(part.nodes[i]);
    }
    for (const LiveArc& arc : part.arcs) {
      const std::uint32_t component = halves.component[local_[arc.from]];
      if (arc.position >= middle && component == halves.component[local_[arc.to]]) {
        halves.late[component].arcs.push_back(arc);
      }
    }
    return halves;
  }

  // The part before the middle, in which each component is contracted to its node.
  Part early_part(const Part& part, const Halves& halves, std::uint32_t middle) {
    for (std::uint32_t i = 0; i < part.nodes.size(); ++i) {
      local_[part.nodes[i]] = i;
    }
    Part early;
    early.nodes = halves.roots;
    for (const LiveArc& arc : part.arcs) {
      const std::uint32_t from = halves.component[local_[arc.from]];
      const std::uint32_t to = halves.component[local_[arc.to]];
      if (from == to && arc.position >= middle) {
        continue;
      }
      early.arcs.push_back({halves.roots[from], halves.roots[to], arc.position});
    }
    return early;
  }

  // `part` is strongly connected after `from` removals (it is the whole graph if from < 0), and no two of its
  // nodes are in one component after `to`. Returns the part's node. The recursion is at most log2(removals)
  // deep.
  std::uint32_t solve(std::int64_t from, std::int64_t to, Part part) {
    while (true) {
      if (part.nodes.size() == 1 && from >= 0) {
        return settle(part, part.nodes[0]);
      }
      if (to - from == 1) {
        return settle(part, add_node(static_cast<std::uint32_t>(to), part.nodes));
      }
      const std::int64_t middle = from + (to - from) / 2;
      Halves halves = cut(part, static_cast<std::uint32_t>(middle));
      for (Part& late : halves.late) {
        halves.roots.push_back(solve(middle, to, std::move(late)));
      }
      part = early_part(part, halves, static_cast<std::uint32_t>(middle));
      to = middle;
    }
  }

  std::uint32_t settle(const Part& part, std::uint32_t node) {
    for (const LiveArc& arc : part.arcs) {
      home_[arc.position] = node;
      tree_.ends[arc.position] = {arc.from, arc.to};
    }
    return node;
  }

  std::uint32_t add_node(std::uint32_t split, std::vector<std::uint32_t> children) {
    tree_.nodes.push_back({split, std::move(children), {}});
    local_.push_back(0);
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  SplitTree tree_;
  std::vector<std::uint32_t> home_;   // by arc: the node whose list it goes to
  std::vector<std::uint32_t> local_;  // by node: position in the part at hand; scratch
};

}  // namespace

SplitTree split_tree(std::uint32_t vertices, const std::vector<Arc>& arcs, std::uint32_t removals) {
  Part whole;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    whole.nodes.push_back(vertex);
  }
  for (std::uint32_t i = 0; i < arcs.size(); ++i) {
    whole.arcs.push_back({arcs[i].from, arcs[i].to, i});
  }
  return Splitter(vertices, arcs.size()).run(whole, removals);
}

}  // namespace offwait
