// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/deadlock.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

using Circles = std::vector<std::vector<std::uint32_t>>;
constexpr std::uint32_t kNobody = kHoldsNothing;

}  // namespace

TEST_CASE("without waits, or if the holders do not wait, there is no deadlock") {
  CHECK(deadlocks({}).empty());
  CHECK(deadlocks({kNobody, 0, 1}).empty());
}

TEST_CASE("a thread that holds what it waits for is a circle of one") {
  CHECK(deadlocks({1, 1, kNobody}) == Circles{{1}});
}

TEST_CASE("circles start at their smallest thread, and threads that lead into one are in none") {
  // 0 leads to 3 → 2 → 4 → 3; 1 ⇄ 5; 6 leads to 0.
  CHECK(deadlocks({3, 5, 4, 2, 3, 1, 0}) == Circles{{1, 5}, {2, 4, 3}});
}
