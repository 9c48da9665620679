// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/side_by_side.h"

#include <catch2/catch.hpp>
#include <stdexcept>

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

}  // namespace
}  // namespace offwait
