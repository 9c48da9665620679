// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/losses.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

Report two_threads_of_ten_seconds() {
  Report report;
  report.actors.resize(2);
  report.actors[0].time.lifetime_s = 10;
  report.actors[1].time.lifetime_s = 10;
  report.totals.waits = 1000;
  return report;
}

}  // namespace

TEST_CASE("unknown time is minor below 1 % of the recorded time") {
  Report report = two_threads_of_ten_seconds();
  CHECK(loss_impact(report).minor);
  report.loss["switch_unseen"] = 500;
  report.actors[0].lost_s = 0.1;
  report.actors[1].lost_s = 0.09;
  const LossImpact impact = loss_impact(report);
  CHECK(impact.unknown_s == Approx(0.19));
  CHECK(impact.recorded_s == 20);
  CHECK(impact.minor);
  report.actors[1].lost_s = 0.1;
  CHECK_FALSE(loss_impact(report).minor);
}

TEST_CASE("lost events that leave no unknown time are minor below 1 % of the waits") {
  for (const char* const counter : {"switch_unseen", "waker_unknown", "other"}) {
    Report report = two_threads_of_ten_seconds();
    report.loss[counter] = 9;
    CHECK(loss_impact(report).minor);
    report.loss[counter] = 10;
    CHECK_FALSE(loss_impact(report).minor);
  }
}

TEST_CASE("a thread that was not recorded is never minor") {
  Report report = two_threads_of_ten_seconds();
  report.loss["thread_table_full"] = 1;
  CHECK_FALSE(loss_impact(report).minor);
}
