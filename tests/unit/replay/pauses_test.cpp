// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/pauses.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

constexpr long kWindowUs = 400'000;

/// Computes for 0.1 ms and waits for the disk for 3.9 ms, again and again. In the last `served_us` of each
/// wait a request is under way.
Trace reader(long served_us) {
  test::Program program(kWindowUs);
  program.thread(1, "reader");
  program.line("disk vda bytes_per_s=1e6 ios_per_s=1000 capacity=assumed");
  for (long at = 0; at < kWindowUs; at += 4000)
    program.wait(1, at + 100, at + 4000, "disk:vda", "class=disk");
  for (long at = 0; served_us > 0 && at < kWindowUs; at += 4000) {
    program.line(fmt::format("io 1 disk=vda bytes=4096 issue={} complete={}", (at + 4000 - served_us) * 1000,
                             (at + 4000) * 1000));
  }
  return program.trace();
}

/// Computes for 1 ms, and a timer ends a wait of 3 ms, again and again.
Trace writer(const std::string& wait_class) {
  test::Program program(kWindowUs);
  program.thread(1, "writer");
  for (long at = 0; at < kWindowUs; at += 4000) program.wait(1, at + 1000, at + 4000, "timer", wait_class);
  return program.trace();
}

}  // namespace

TEST_CASE("a disk gains what it had requests for, and what is held back above it is another part") {
  const Trace trace = reader(200);
  const Answers found = test::answers(trace);
  REQUIRE(found.answers.size() >= 2);
  const Answer& pause = found.answers[0];
  CHECK(pause.change.resource == Resource::pause);
  CHECK(trace.actors[pause.change.device].name == "vda");
  CHECK(pause.certainty == Certainty::rough);
  CHECK(pause.doubt == Doubt::pace_unseen);
  CHECK(pause.gain > 20);
  CHECK(pause.use.time_ns == 100 * 3'900'000);
  CHECK(pause.use.served_ns == 100 * 200'000);
  const Answer* const disk = test::answer_about(found, Resource::disk);
  REQUIRE(disk != nullptr);
  CHECK(disk->gain == Approx(4.0 / 3.9 - 1).epsilon(0.05));
}

TEST_CASE("nothing is held back above a disk that has requests, or whose requests are not known") {
  for (const long served_us : {0, 2500, 3900}) {
    const Answers found = test::answers(reader(served_us));
    REQUIRE(!found.answers.empty());
    CHECK(test::answer_about(found, Resource::pause) == nullptr);
    CHECK(found.answers[0].change.resource == Resource::disk);
    CHECK(found.answers[0].gain == Approx(4 / 2.05 - 1).epsilon(0.05));
  }
}

TEST_CASE("what is held back is put where it gains no less than what threads did besides") {
  // Two threads are held back for 3.6 of each 4 ms, and run for the rest.
  test::Program program(kWindowUs);
  program.thread(1, "db");
  program.thread(2, "db");
  for (long at = 0; at < kWindowUs; at += 4000) {
    program.wait(1, at + 200, at + 3800, "timer", "class=disk");
    program.wait(2, at + 200, at + 3800, "timer", "class=disk");
  }
  const Answers found = test::answers(program.trace());
  const Answer* const pause = test::answer_about(found, Resource::pause);
  REQUIRE(pause != nullptr);
  CHECK(pause->certainty == Certainty::rough);
  CHECK(pause->gain >= 4 / 0.4 - 1);
}

TEST_CASE("a time that no program asked for is no sleep") {
  for (const char* const own :
       {"class=disk", "class=fault", "class=lock stack=schedule_timeout;reclaim_throttle;--;main"}) {
    const Trace trace = writer(own);
    const Answers found = test::answers(trace);
    REQUIRE(!found.answers.empty());
    CHECK(found.answers[0].change.resource == Resource::pause);
    CHECK(found.answers[0].change.device == kNoActor);
    CHECK(found.answers[0].gain == Approx(3).epsilon(0.05));
    CHECK(found.answers[0].certainty == Certainty::rough);
    CHECK(test::answer_about(found, Resource::sleep) == nullptr);
  }
  for (const char* const asked : {"class=sleep", "class=lock stack=schedule_timeout;nfs4_delay;--;main"}) {
    const Answers found = test::answers(writer(asked));
    REQUIRE(!found.answers.empty());
    CHECK(found.answers[0].change.resource == Resource::sleep);
    CHECK(test::answer_about(found, Resource::pause) == nullptr);
  }
}
