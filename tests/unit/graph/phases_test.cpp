// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/phases.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

// Parts of 10 ns.
constexpr Window kWindow{1000, 2000};

std::vector<std::pair<Nanos, Nanos>> ranges_of(const Phases& phases) {
  std::vector<std::pair<Nanos, Nanos>> ranges;
  for (const Window& range : phases.ranges) {
    ranges.emplace_back(range.begin, range.end);
  }
  return ranges;
}
using Ranges = std::vector<std::pair<Nanos, Nanos>>;

TEST_CASE("a stall: the few parts with most of the wait time are the phase") {
  WaitsOverTime waits(kWindow);
  // Two threads wait throughout the stall, and every second part has a short wait.
  waits.add(1300, 1345);
  waits.add(1303, 1350);
  for (Nanos at = 1000; at < 2000; at += 100) {
    waits.add(at, at + 2);
  }
  const std::optional<Phases> phases = waits.phases();
  REQUIRE(phases);
  CHECK(phases->all_ns == 45 + 47 + 20);
  CHECK(ranges_of(*phases) == Ranges{{1300, 1350}});
  CHECK(phases->length_ns == 50);
  CHECK(phases->wait_ns == 45 + 47 + 2);
}

TEST_CASE("waits are clipped to the window") {
  WaitsOverTime waits(kWindow);
  waits.add(0, 1005);
  waits.add(1995, kNever);
  waits.add(100, 900);
  waits.add(2000, 2100);
  const std::optional<Phases> phases = waits.phases();
  REQUIRE(phases);
  CHECK(phases->all_ns == 10);
  CHECK(ranges_of(*phases) == Ranges{{1000, 1010}, {1990, 2000}});
}

TEST_CASE("a fifth of the window is few, more is not") {
  WaitsOverTime waits(kWindow);
  waits.add(1000, 1250);
  REQUIRE(waits.phases());  // 80 % of it is in 20 parts
  CHECK(ranges_of(*waits.phases()) == Ranges{{1000, 1250}});
  CHECK(waits.phases()->length_ns == 250);
  CHECK(waits.phases()->wait_ns == 250);
  waits.add(1250, 1251);
  CHECK_FALSE(waits.phases());
}

TEST_CASE("three ranges are phases, four are not") {
  WaitsOverTime waits(kWindow);
  for (const Nanos at : {1100, 1300, 1500}) {
    waits.add(at, at + 30);
  }
  REQUIRE(waits.phases());
  CHECK(ranges_of(*waits.phases()) == Ranges{{1100, 1130}, {1300, 1330}, {1500, 1530}});
  waits.add(1700, 1730);
  CHECK_FALSE(waits.phases());
}

TEST_CASE("no time, no phases; the longest window does not overflow") {
  CHECK_FALSE(WaitsOverTime(kWindow).phases());
  WaitsOverTime always({0, kNever - 1});
  always.add(0, kNever);
  CHECK_FALSE(always.phases());
}

}  // namespace
}  // namespace offwait
