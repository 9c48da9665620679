// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/gains.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "progress/wait_kinds.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

/// Groups that are so many times as fast, in one piece and scenario.
Replayed with_speeds(const std::vector<double>& speeds) {
  Replayed out = nothing_replayed(1, 1, speeds.size());
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    out.pieces[0][i].done_ns[0] = speeds[i] * 1000;
    out.pieces[0][i].took_ns[0] = speeds[i] > 0 ? 1000 : 0;
  }
  return out;
}

}  // namespace

TEST_CASE("groups that are joined go at the rate of the slowest") {
  const Progress progress{Progress::How::inferred, {{{0, 1, 2}, 1}}};
  const GainBounds bounds = gain_of(progress, with_speeds({2, 1.5, 1.9}), {10, 10, 10}, 0, 0, 1);
  CHECK(bounds.least == Approx(0.5));
  CHECK(bounds.most == Approx(1.0));
}

TEST_CASE("a group that hardly hands over does not hold the others up") {
  const Progress progress{Progress::How::inferred, {{{0, 1}, 1}}};
  CHECK(gain_of(progress, with_speeds({2, 1}), {100, 1}, 0, 0, 1).least == Approx(1.0));
  CHECK(gain_of(progress, with_speeds({2, 1}), {100, 10}, 0, 0, 1).least == Approx(0.0));
}

TEST_CASE("parts progress at rates of their own and count by their weights") {
  const Progress progress{Progress::How::inferred, {{{0}, 0.75}, {{1}, 0.25}}};
  CHECK(gain_of(progress, with_speeds({2, 1}), {1, 1}, 0, 0, 1).least == Approx(0.75));
}

TEST_CASE("who did nothing says nothing") {
  const Progress progress{Progress::How::inferred, {{{0, 1}, 1}, {{2}, 1}}};
  CHECK(gain_of(progress, with_speeds({2, 0, 0}), {1, 1, 1}, 0, 0, 1).least == Approx(1.0));
  CHECK(gain_of(progress, with_speeds({0, 0, 0}), {1, 1, 1}, 0, 0, 1).least == 0);
}

TEST_CASE("a range adds the spread of the pieces to the error of the replay") {
  // Pieces that agree leave 10 % of the time that is saved, half of it, which is 0.2 of the gain of 1, and 2
  // % of the other half, which is 0.04 of it.
  const GainRange agreed = range_of(1, {1, 1, 1, 1}, 3);
  CHECK(agreed.low == Approx(1 - std::hypot(0.2, 0.04)));
  CHECK(agreed.high == Approx(1 + std::hypot(0.2, 0.04)));
  // Without a gain, the spread, 2.353 times the deviation of 0.01 times the root of 2/4, and 2 % of all time.
  const double chance = 2.353 * std::sqrt(0.0002 / 3) * std::sqrt(0.5);
  const GainRange spread = range_of(0, {-0.01, -0.0, 0.0, 0.01}, 1);
  CHECK(spread.high == Approx(std::hypot(chance, 0.02)));
  CHECK(spread.low == Approx(-spread.high));
  const GainRange both = range_of(1, {0.99, 1, 1, 1.01}, 3);
  CHECK(both.high - 1 == Approx(std::hypot(0.2, 0.04, chance)));
  // A part that takes half as long gains at most 1, and 2 % of all time.
  const GainRange bounded = range_of(1, {0.99, 1, 1, 1.01}, 1);
  CHECK(bounded.high == Approx(1.04));
  CHECK(bounded.low == both.low);
}

TEST_CASE("threads that are started for each piece of work do not tell a speed") {
  test::Program program(100'000);
  program.thread(1, "make");
  for (int child = 0; child < 10; ++child) {
    const std::string begin = std::to_string(child * 10'000'000);
    program.thread(100 + child, "cc",
                   "parent=1 start=" + begin + " exit=" + std::to_string((child * 10 + 5) * 1'000'000));
    program.wait(1, child * 10'000 + 10, child * 10'000 + 5000, "thread:" + std::to_string(100 + child),
                 "class=child");
  }
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  const Uses uses = uses_of(trace, groups, kinds_of_waits(trace, groups));
  REQUIRE(groups.groups.size() == 2);
  CHECK(weights_of(groups, uses)[1] == 20);
  CHECK(weights_of_speeds(trace, groups, uses) == std::vector<double>{30, 0});
}
