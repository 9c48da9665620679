// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/split.h"

#include <catch2/catch.hpp>

using offwait::Arc;
using offwait::split_tree;
using offwait::SplitTree;
using ArcIds = std::vector<std::uint32_t>;

TEST_CASE("a graph without vertices is a root without children") {
  const SplitTree tree = split_tree(0, {}, 0);
  REQUIRE(tree.nodes.size() == 1);
  CHECK(tree.nodes[0].split == 0);
  CHECK(tree.nodes[0].children.empty());
}

TEST_CASE("a cycle splits with its first arc, self-loops are removed in their turn") {
  // 0: self-loop, 1: 0→1, 2: self-loop of 1, 3: 1→0.
  const std::vector<Arc> arcs{{0, 0}, {0, 1}, {1, 1}, {1, 0}};
  const SplitTree tree = split_tree(2, arcs, 4);
  REQUIRE(tree.nodes.size() == 4);  // two vertices, the cycle, the root
  CHECK(tree.nodes[0].arcs.empty());
  CHECK(tree.nodes[1].arcs == ArcIds{2});
  CHECK(tree.nodes[1].split == SplitTree::kLasts);
  CHECK(tree.nodes[2].split == 2);
  CHECK(tree.nodes[2].children.size() == 2);
  CHECK(tree.nodes[2].arcs == ArcIds{0, 1, 3});
  CHECK(tree.ends[3].from == 1);
  CHECK(tree.ends[3].to == 0);
  CHECK(tree.nodes[3].split == 0);
  CHECK(tree.nodes[3].children == ArcIds{2});
}

TEST_CASE("vertices that stay connected through all removals are one node") {
  const std::vector<Arc> arcs{{2, 0}, {0, 0}, {0, 1}, {1, 0}, {0, 2}};
  const SplitTree one = split_tree(3, arcs, 1);
  REQUIRE(one.nodes.size() == 6);  // three vertices, {0,1}, {0,1,2}, the root
  CHECK(one.nodes[3].split == SplitTree::kLasts);
  CHECK(one.nodes[3].arcs == ArcIds{1, 2, 3});
  CHECK(one.nodes[4].split == 1);
  CHECK(one.nodes[4].arcs == ArcIds{0, 4});
  const SplitTree none = split_tree(3, arcs, 0);
  REQUIRE(none.nodes.size() == 5);
  CHECK(none.nodes[3].split == SplitTree::kLasts);
  CHECK(none.nodes[3].arcs == ArcIds{0, 1, 2, 3, 4});
}
