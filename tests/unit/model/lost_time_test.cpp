// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/lost_time.h"

#include <catch2/catch.hpp>

using namespace offwait;

TEST_CASE("what was lost matters from a hundredth of the time of the target's threads on") {
  Trace trace;
  trace.window = {0, 1000};
  trace.actors.resize(4);
  for (Actor& actor : trace.actors) actor.kind = ActorKind::thread;
  trace.actors[1].seen = 500;
  trace.actors[2].outside = true;
  trace.actors[3].kind = ActorKind::disk;
  CHECK_FALSE(lost_time(trace).matters());
  trace.gaps = {{0, 10, 24}, {2, 0, 900}};
  CHECK(lost_time(trace).lived_ns == 1500);
  CHECK(lost_time(trace).lost_ns == 14);
  CHECK_FALSE(lost_time(trace).matters());
  trace.gaps.push_back({1, 999, 2000});  // one within the window
  CHECK(lost_time(trace).lost_ns == 15);
  CHECK(lost_time(trace).matters());
}
