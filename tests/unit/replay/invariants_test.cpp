// SPDX-License-Identifier: GPL-2.0-or-later
// What may not change an answer.
#include <catch2/catch.hpp>
#include <string>

#include "replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

/// A client asks a server, which works for 0.5 ms and waits for a disk for 2.5 ms. Times are `scale` times as
/// long, tids begin at `first`.
test::Program program(long scale = 1, int first = 1) {
  const long end = 400'000 * scale;
  test::Program out(end);
  out.thread(first, "client");
  out.thread(first + 1, "server");
  const std::string queue = "class=futex stack=f;--;pthread_cond_wait;main";
  const auto thread = [](int tid) { return "thread:" + std::to_string(tid); };
  for (long at = 0; at < end; at += 4000 * scale) {
    // The client runs for 1 ms of each 4, while the server waits for it.
    out.wait(first + 1, at, at + 1000 * scale, thread(first), queue);
    out.wait(first, at + 1000 * scale, at + 4000 * scale, thread(first + 1), queue);
    out.wait(first + 1, at + 1500 * scale, at + 3999 * scale, "disk:vda", "class=disk");
  }
  return out;
}

void check(const test::Program& changed) {
  const Trace trace = changed.trace();
  const ThreadGroups groups = group_threads(trace);
  const Answers found = answers_of(trace, facts_of(trace, groups, {}), {});
  REQUIRE(!found.answers.empty());
  const Answer& first = found.answers.front();
  CHECK(first.progress == 0);
  REQUIRE(first.change.device != kNoActor);
  CHECK(trace.actors[first.change.device].name == "vda");
  CHECK(first.gain == Approx(4 / 2.75 - 1).margin(0.01));
}

}  // namespace

TEST_CASE("the answer is the disk") { check(program()); }

TEST_CASE("an answer does not depend on tids") { check(program(1, 4000)); }

TEST_CASE("an answer does not depend on the unit of time") {
  check(program(2));
  check(program(5));
}

TEST_CASE("idle threads change nothing") {
  test::Program with = program();
  for (int tid = 100; tid < 110; ++tid) {
    with.thread(tid, "idle");
    with.line("wait " + std::to_string(tid) + " block=0 wake=- run=- waker=- class=futex");
  }
  check(with);
}

TEST_CASE("a ticker changes nothing") {
  test::Program with = program();
  with.thread(100, "ticker");
  for (long at = 0; at < 400'000; at += 10'000) {
    with.wait(100, at + 10, at + 10'000, "timer", "class=sleep");
  }
  check(with);
}

TEST_CASE("a busy stranger changes nothing, in the target or outside of it") {
  test::Program outside = program();
  outside.thread(100, "stranger", "start=0 exit=- outside=yes");
  check(outside);
  test::Program inside = program();
  inside.thread(100, "stranger");
  check(inside);
}

TEST_CASE("a part that takes half as long makes nothing more than twice as fast") {
  // Nearly all of the time is the disk's, and its requests take 3.9 ms or, now and then, 7.9 ms.
  test::Program reader(400'000);
  reader.thread(1, "reader");
  long at = 0;
  for (int request = 0; at + 8000 <= 400'000; ++request) {
    const long took = request % 7 == 0 ? 7900 : 3900;
    reader.wait(1, at + 100, at + 100 + took, "disk:vda", "class=disk");
    at += 100 + took;
  }
  const Trace trace = reader.trace();
  const Answers found = answers_of(trace, facts_of(trace, group_threads(trace), {}), {});
  REQUIRE(!found.answers.empty());
  const Answer& first = found.answers.front();
  CHECK(first.change.device != kNoActor);
  CHECK(first.certainty == Certainty::sure);
  CHECK(first.gain > 0.93);
  CHECK(first.low < first.gain);
  CHECK(first.high == Approx(1.04));
}
