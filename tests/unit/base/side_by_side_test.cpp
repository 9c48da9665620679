// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/side_by_side.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <sched.h>

#include "base/available_cpus.h"

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

TEST_CASE("each_side_by_side calls for every number once") {
  const std::size_t count = GENERATE(0U, 1U, 2U, 100U);
  std::vector<int> calls(count);
  each_side_by_side(count, [&](std::size_t i) { ++calls[i]; });
  CHECK(calls == std::vector<int>(count, 1));
}

TEST_CASE("each_side_by_side throws what one of the calls threw") {
  const std::size_t failing = GENERATE(0U, 1U, 7U);
  const auto work = [failing](std::size_t i) {
    if (i == failing) throw std::runtime_error("no");
  };
  CHECK_THROWS_AS(each_side_by_side(8, work), std::runtime_error);
}

TEST_CASE("the CPUs of this thread") {
  CHECK(available_cpus() >= 1);
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(available_cpus() == 1);
  CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

}  // namespace
}  // namespace offwait
