// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/more_threads.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

/// `clients` threads ask one helper, which sleeps 1 ms for each of them in turn.
test::Program helper_for(int clients, long end_us = 400'000) {
  test::Program program(end_us);
  program.thread(1, "helper");
  for (int tid = 2; tid < 2 + clients; ++tid) program.thread(tid, "client");
  for (long at = 0; at + 1000 < end_us; at += 1000) {
    const long first = std::max(0L, at - (clients - 1) * 1000 + 10);
    program.wait(2 + static_cast<int>(at / 1000 % clients), first, at + 1000, "thread:1",
                 "class=futex stack=f;--;pthread_cond_wait;ask;client");
    program.wait(1, at + 5, at + 999, "timer", "class=sleep stack=k;--;nanosleep;serve;helper");
  }
  return program;
}

std::vector<Pool> pools(const Trace& trace) {
  const ThreadGroups groups = group_threads(trace);
  const WaitKinds kinds = kinds_of_waits(trace, groups);
  return pools_of(trace, groups, kinds, uses_of(trace, groups, kinds), 5);
}

}  // namespace

TEST_CASE("threads queue for a helper if more wait for it than it serves at a time") {
  const std::vector<Pool> found = pools(helper_for(4).trace());
  REQUIRE(found.size() == 1);
  CHECK(found[0].group == 0);
  CHECK(found[0].threads == Approx(1));
  CHECK(found[0].waiting == Approx(3.95).margin(0.05));
  CHECK(pools(helper_for(1).trace()).empty());
}

TEST_CASE("more threads of a group that others queue for gain up to as many times as wait for it") {
  const Trace trace = helper_for(4).trace();
  const Answers found = answers_of(trace, group_threads(trace), {});
  REQUIRE(!found.answers.empty());
  const Answer& first = found.answers.front();
  CHECK(first.change.resource == Resource::sleep);
  CHECK(first.gain == Approx(1).margin(0.05));
  REQUIRE(first.more);
  CHECK(first.more->gain == Approx(2.9).margin(0.2));
}

TEST_CASE("as many threads as share the work that is asked about gain as many times as much, at most") {
  const Trace trace = helper_for(4).trace();
  AnswerOptions options;
  options.asked = {{{Resource::threads, 0, kNoActor, 0.5}}};
  const Answers found = answers_of(trace, group_threads(trace), options);
  CHECK(found.asked[0].gain == Approx(1).margin(0.05));
  CHECK(found.asked[0].certainty == Certainty::up_to);
  CHECK_FALSE(found.asked[0].low);
}

TEST_CASE("more threads compute no sooner where the CPUs are short, and share all else") {
  Uses uses;
  uses.groups.resize(1);
  uses.groups[0].disk_ns[7] = 1;
  const auto parts = [&](bool cpus_short) {
    std::vector<Resource> out;
    for (const Change& change : shared_by_more_threads({Resource::threads, 0}, uses, cpus_short)) {
      CHECK(change.shared);
      CHECK(change.group == 0);
      out.push_back(change.resource);
    }
    return out;
  };
  CHECK(parts(false) == std::vector{Resource::cpu, Resource::sleep, Resource::remote, Resource::io});
  CHECK(parts(true) == std::vector{Resource::sleep, Resource::remote, Resource::io});
}
