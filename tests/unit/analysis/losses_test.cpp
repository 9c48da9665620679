// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/losses.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

Findings two_threads_of_ten_seconds() {
  Findings findings;
  findings.actors.resize(2);
  findings.actors[0].time.lifetime_s = 10;
  findings.actors[1].time.lifetime_s = 10;
  findings.totals.waits = 1000;
  findings.lost.lived_ns = 20'000'000'000;
  return findings;
}

}  // namespace

TEST_CASE("unknown time is minor below 1 % of the time of the target's threads") {
  Findings findings = two_threads_of_ten_seconds();
  CHECK(loss_impact(findings).minor);
  findings.loss["switch_unseen"] = 500;
  findings.actors[0].lost_s = 0.1;
  findings.actors[1].lost_s = 0.09;
  findings.lost.lost_ns = 190'000'000;
  const LossImpact impact = loss_impact(findings);
  CHECK(impact.unknown_s == Approx(0.19));
  CHECK(impact.recorded_s == 20);
  CHECK(impact.minor);
  findings.lost.lost_ns = 200'000'000;
  CHECK_FALSE(loss_impact(findings).minor);
}

TEST_CASE("lost events that leave no unknown time are minor below 1 % of the waits") {
  for (const char* const counter : {"switch_unseen", "waker_unknown", "other"}) {
    Findings findings = two_threads_of_ten_seconds();
    findings.loss[counter] = 9;
    CHECK(loss_impact(findings).minor);
    findings.loss[counter] = 10;
    CHECK_FALSE(loss_impact(findings).minor);
  }
}

TEST_CASE("a thread that was not recorded is never minor") {
  Findings findings = two_threads_of_ten_seconds();
  findings.loss["thread_table_full"] = 1;
  CHECK_FALSE(loss_impact(findings).minor);
}
