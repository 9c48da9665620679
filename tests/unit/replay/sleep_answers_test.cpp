// SPDX-License-Identifier: GPL-2.0-or-later
// What answers say of programs whose threads sleep for other reasons than that they asked for a time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

const std::string kSync = "class=disk stack=k;--;fdatasync;sync_log;writer";

/// The answer about this part of the group of thread `tid`, which has one.
Answer about(const Trace& trace, Resource resource, std::int32_t tid,
             const std::vector<std::string>& progress = {}) {
  const Answers all = test::answers(trace, {}, progress);
  const ThreadGroups groups = group_threads(trace);
  for (const Answer& answer : all.answers) {
    const GroupId group = answer.change.group;
    if (answer.change.resource != resource || group == kNoGroup) continue;
    const ActorId first = groups.groups[group].members.front();
    if (trace.actors[first].tid == tid) return answer;
  }
  FAIL("no such answer");
  return {};
}

}  // namespace

TEST_CASE("who throttles writers limits them, as far as the recording shows") {
  test::Program program(test::kThrottledUs);
  test::add_throttled_writer(program);
  const Answer first = test::answers(program.trace()).answers.at(0);
  CHECK(first.change.resource == Resource::cpu);
  CHECK(first.gain == Approx(1 / 0.7 - 1).epsilon(0.1));
  CHECK(first.certainty == Certainty::approximate);
  CHECK(first.doubt == Doubt::throttled);
}

TEST_CASE("what gains by less work is not known where threads sleep in some of their rounds") {
  test::Program program(400'000);
  program.thread(1, "txn");
  long at = 0;
  long slept = 0;
  for (long round = 0; at + 2310 < 400'000; ++round) {
    at += 500;
    program.wait(1, at, at + 1000, "disk:vda", kSync);
    at += 1010;
    if (round * 7 % 5 > 1) continue;
    program.wait(1, at, at + 800, "timer", "class=sleep stack=k;--;usleep;back_off;txn");
    at += 800;
    slept += 800;
  }
  const Answer work = about(program.trace(), Resource::cpu, 1, {"txn"});
  CHECK(work.certainty == Certainty::up_to);
  CHECK(work.doubt == Doubt::sleeps_vary);
  CHECK(work.low == 0.0);
  // Half of the work may do without the sleeps: a quarter of the rest of the time, or so, is saved besides.
  const double rest = 400'000.0 - static_cast<double>(slept);
  CHECK(most_of(work) == Approx(400'000.0 / (rest - 0.5 * 510.0 / 1510.0 * rest) - 1).margin(0.12));
}

TEST_CASE("what threads at a fixed rate gain is a bound if they are late") {
  const Trace trace = test::late_frame();
  const Answer work = about(trace, Resource::cpu, 1, {"frame"});
  CHECK(work.certainty == Certainty::up_to);
  CHECK(work.doubt == Doubt::fixed_rate);
  CHECK(most_of(work) >= 0.24);
  const Answer period = about(trace, Resource::sleep, 1, {"frame"});
  CHECK(period.use.fixed_rate);
}

TEST_CASE("producers that a sender serves in batches may gain more than the replay shows") {
  test::Program program(300'000);
  program.thread(1, "sender");
  for (int tid = 2; tid <= 4; ++tid) program.thread(tid, "producer");
  long batch = 0;
  for (long at = 0; at + 2000 <= 300'000; at += 2000) {
    program.wait(1, at, at + 1000, "nic:eth0",
                 "class=net peer=service:10.0.0.5:80 stack=k;--;recv;send_all;sender");
    const long size = batch++ % 3 + 1;
    for (int tid = 2; tid < 2 + size; ++tid) {
      program.wait(tid, at + 100, at + 1100, "thread:1",
                   "class=futex stack=f;--;pthread_cond_wait;ack;producer");
    }
  }
  const Trace trace = program.trace();
  const Answers all = test::answers(trace, {}, {"producer"});
  const auto service = std::find_if(all.answers.begin(), all.answers.end(), [](const Answer& answer) {
    return answer.change.resource == Resource::remote;
  });
  REQUIRE(service != all.answers.end());
  CHECK(service->certainty == Certainty::up_to);
  CHECK(service->low == 0.0);
}
