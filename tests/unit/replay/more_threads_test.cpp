// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/more_threads.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "replay/answers.h"
#include "unit/replay/answers.h"
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
  const Uses uses = uses_of(trace, groups, kinds);
  return pools_of(trace, groups, kinds, uses, occupied_of(trace, groups, kinds, uses), 5);
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
  const Answers found = test::answers(trace);
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
  const Answers found = test::answers(trace, options);
  CHECK(found.asked[0].gain == Approx(1).margin(0.05));
  CHECK(found.asked[0].certainty == Certainty::up_to);
  CHECK_FALSE(found.asked[0].low);
}

TEST_CASE("more threads compute no sooner where the CPUs are short, and share all else") {
  const Trace trace = helper_for(4).trace();
  const ThreadGroups groups = group_threads(trace);
  const WaitKinds kinds = kinds_of_waits(trace, groups);
  Uses uses = uses_of(trace, groups, kinds);
  uses.groups[0].disk_ns[7] = 1;
  const Occupied occupied = occupied_of(trace, groups, kinds, uses);
  const auto parts = [&](bool cpus_short) {
    std::vector<Resource> out;
    for (const Change& change :
         shared_by_more_threads({Resource::threads, 0}, trace, groups, kinds, uses, occupied, cpus_short)) {
      CHECK(change.shared);
      CHECK(change.group == 0);
      out.push_back(change.resource);
    }
    return out;
  };
  CHECK(parts(false) == std::vector{Resource::cpu, Resource::sleep, Resource::remote, Resource::io});
  CHECK(parts(true) == std::vector{Resource::sleep, Resource::remote, Resource::io});
}

namespace {

/// A worker sleeps 1 ms for each request of a client; `unread` requests at a time are not read yet.
test::Program worker_with_unread(double unread, long end_us = 400'000) {
  test::Program program(end_us);
  program.thread(1, "worker");
  for (long at = 0; at + 1000 < end_us; at += 1000) {
    program.wait(1, at + 5, at + 999, "timer", "class=sleep stack=k;--;nanosleep;serve;worker");
  }
  program.line("responses 1 port=80 count=400 connections=400 first=0 last=" + std::to_string(end_us * 1000) +
               " under_way=" + std::to_string(end_us * 990) +
               " unread=" + std::to_string(std::llround(unread * static_cast<double>(end_us) * 1000)));
  return program;
}

}  // namespace

TEST_CASE("one worker that is never idle is too few where requests are unread") {
  const std::vector<Pool> found = pools(worker_with_unread(7).trace());
  REQUIRE(found.size() == 1);
  CHECK(found[0].threads == Approx(1));
  CHECK(found[0].waiting == Approx(8));
  CHECK(found[0].requests);
  CHECK(pools(worker_with_unread(0.2).trace()).empty());

  const Trace trace = worker_with_unread(7).trace();
  const Answers answers = test::answers(trace);
  REQUIRE(!answers.answers.empty());
  REQUIRE(answers.answers.front().more);
  CHECK(answers.answers.front().more->gain == Approx(7).margin(0.01));
}

TEST_CASE("a thread that has the name of workers and serves nobody does not count as one") {
  test::Program program = worker_with_unread(7);
  program.thread(2, "worker");
  for (long at = 0; at < 400'000; at += 100'000) {
    program.wait(2, at + 5, at + 99'000, "-", "class=poll stack=ep;--;epoll_wait;look;worker");
  }
  const std::vector<Pool> found = pools(program.trace());
  REQUIRE(found.size() == 1);
  CHECK(found[0].threads == Approx(1));
  CHECK(found[0].waiting == Approx(8));
}

TEST_CASE("requests wait in an event loop for a service that gets few of them at a time") {
  // The loop has 8 requests under way; the service works on one, 1 ms each.
  constexpr long kEnd = 400'000;
  test::Program program(kEnd);
  program.thread(1, "loop");
  program.line("thread 2 tgid=2 comm=service start=0 exit=- outside=yes");
  for (long at = 0; at + 1000 < kEnd; at += 1000) {
    program.wait(2, at + 5, at + 999, "timer", "class=sleep stack=k;--;nanosleep;answer;service");
    program.wait(1, at + 10, at + 1000, "thread:2",
                 "class=poll stack=ep;--;epoll_wait;loop peer=service:10.0.0.2:5432");
    if (at % 100'000 == 0) {
      program.wait(1, at + 1001, at + 1005, "-",
                   "class=poll stack=ep;--;epoll_wait;loop peer=client:10.0.0.3");
    }
  }
  program.line("responses 1 port=80 count=399 connections=8 first=0 last=400000000 under_way=3200000000");
  program.line("responses 2 port=5432 count=399 connections=1 first=0 last=400000000 under_way=396000000");
  const std::vector<Pool> found = pools(program.trace());
  REQUIRE(found.size() == 1);
  CHECK(found[0].threads == Approx(0.99).margin(0.01));
  CHECK(found[0].waiting == Approx(8).margin(0.1));
  CHECK(found[0].requests);
}
