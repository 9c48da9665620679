// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/side_by_side.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

namespace offwait {
namespace {

TEST_CASE("both functions have returned when side_by_side does") {
  int first = 0;
  int second = 0;
  side_by_side([&] { first = 1; }, [&] { second = 2; });
  CHECK(first == 1);
  CHECK(second == 2);
}

TEST_CASE("side_by_side throws what one of its functions threw") {
  const auto nothing = [] {};
  const auto fail = [] { throw std::runtime_error("no"); };
  CHECK_THROWS_AS(side_by_side(fail, nothing), std::runtime_error);
  CHECK_THROWS_AS(side_by_side(nothing, fail), std::runtime_error);
}

TEST_CASE("each_side_by_side calls its function once for each number") {
  for (const std::size_t count : {0U, 1U, 2U, 100U}) {
    std::vector<int> calls(count);
    each_side_by_side(count, [&calls](std::size_t i) { ++calls[i]; });
    CHECK(calls == std::vector<int>(count, 1));
  }
}

}  // namespace
}  // namespace offwait
