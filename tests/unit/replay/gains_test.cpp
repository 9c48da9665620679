// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/gains.h"

#include <catch2/catch.hpp>

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
