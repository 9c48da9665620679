// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/scc.h"

#include <catch2/catch.hpp>
#include <set>

using offwait::Arc;
using offwait::Components;
using offwait::strong_components;

TEST_CASE("no vertices, no components") {
  const Components components = strong_components(0, {});
  CHECK(components.count == 0);
  CHECK(components.of.empty());
}

TEST_CASE("components are numbered in reverse topological order") {
  // {0,1} → {2} → {3,4}; 5 alone with a self-loop, named twice.
  const std::vector<Arc> arcs{{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 4}, {4, 3}, {5, 5}, {5, 5}};
  const Components components = strong_components(6, arcs);
  REQUIRE(components.count == 4);
  CHECK(components.of[0] == components.of[1]);
  CHECK(components.of[3] == components.of[4]);
  CHECK(components.of[3] == 0);
  CHECK(components.of[2] == 1);
  CHECK(components.of[0] == 2);
  CHECK(components.of[5] == 3);
}

TEST_CASE("a chain and a cycle of 100,000 vertices need no deep stack") {
  constexpr std::uint32_t kLength = 100'000;
  std::vector<Arc> arcs;
  for (std::uint32_t v = 0; v + 1 < kLength; ++v) {
    arcs.push_back({v, v + 1});
  }
  const Components chain = strong_components(kLength, arcs);
  CHECK(chain.count == kLength);
  CHECK(chain.of[0] == kLength - 1);
  CHECK(chain.of[kLength - 1] == 0);
  arcs.push_back({kLength - 1, 0});
  CHECK(strong_components(kLength, arcs).count == 1);
}
