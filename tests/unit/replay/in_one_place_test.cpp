// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/in_one_place.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "unit/replay/answers.h"
#include "unit/replay/program.h"
#include "unit/replay/replayer.h"

using namespace offwait;
using test::answer_about;

namespace {

/// Six threads that work for very different times, on average 0.4 ms, and wait for a disk that serves one
/// request at a time, in order, in `service_us`.
struct AtOneDisk {
  explicit AtOneDisk(double service_us) {
    std::priority_queue<std::pair<long, int>, std::vector<std::pair<long, int>>, std::greater<>> issues;
    std::vector<std::mt19937> random;
    for (int tid = 1; tid <= 6; ++tid) {
      program.thread(tid, "worker");
      random.emplace_back(tid);
      issues.emplace(tid * 100, tid);
    }
    std::exponential_distribution<> works(1 / 400.0);
    std::uniform_real_distribution<> varies(0.8, 1.2);
    long free = 0;
    while (free < kEnd) {
      const auto [issue, tid] = issues.top();
      issues.pop();
      std::mt19937& own = random[static_cast<std::size_t>(tid - 1)];
      free = std::max(free, issue) + std::lround(service_us * varies(own));
      if (free >= kEnd) break;
      ++requests;
      program.wait(tid, issue, free, "disk:vda", "class=disk");
      program.line("io " + std::to_string(tid) + " disk=vda bytes=1 issue=" + std::to_string(issue * 1000) +
                   " complete=" + std::to_string(free * 1000));
      issues.emplace(free + 1 + std::lround(works(own)), tid);
    }
  }
  static constexpr long kEnd = 700'000;
  test::Program program{kEnd};
  double requests = 0;
};

/// Three workers take 1 ms for each job. `batch` hands out its next job 0.1 ms after it got the last one
/// back, `inter` after it slept for 2 ms. The worker that waits longest gets the job.
Trace two_askers_of_a_pool() {
  constexpr long kEnd = 400'000;
  test::Program program(kEnd);
  program.thread(1, "batch");
  program.thread(2, "inter");
  std::deque<std::pair<int, long>> idle;
  for (const int tid : {3, 4, 5}) {
    program.thread(tid, "worker");
    idle.emplace_back(tid, tid);
  }
  long batch = 100;
  long inter = 2000;
  program.wait(2, 10, inter, "timer", "class=sleep stack=k;--;nanosleep;inter");
  while (std::min(batch, inter) + 4000 < kEnd) {
    const bool is_batch = batch <= inter;
    const int asker = is_batch ? 1 : 2;
    long& at = is_batch ? batch : inter;
    const auto [worker, since] = idle.front();
    idle.pop_front();
    const std::string by = "thread:" + std::to_string(asker);
    program.wait(worker, since, at, by, "class=futex stack=f;--;pthread_cond_wait;take;worker");
    program.wait(asker, at + 1, at + 1000, "thread:" + std::to_string(worker),
                 "class=futex stack=f;--;pthread_cond_wait;reply");
    idle.emplace_back(worker, at + 1001);
    if (!is_batch) {
      program.wait(2, at + 1010, at + 3000, "timer", "class=sleep stack=k;--;nanosleep;inter");
    }
    at += is_batch ? 1100 : 3000;
  }
  return program.trace();
}

}  // namespace

TEST_CASE("a disk serves whichever request comes first, whatever the order in the recording") {
  const AtOneDisk recorded(270);
  const AtOneDisk faster(135);
  const Answers found = test::answers(recorded.program.trace());
  const Answer* const disk = answer_about(found, Resource::disk);
  REQUIRE(disk != nullptr);
  CHECK(disk->gain == Approx(faster.requests / recorded.requests - 1).margin(0.05));
  CHECK(disk->certainty == Certainty::sure);
}

TEST_CASE("a job goes to whichever thread of a pool is free, whatever it did in the recording") {
  const Trace trace = two_askers_of_a_pool();
  const test::Replayer replayer(trace);
  CHECK(replayer.speed("batch", {}) == Approx(1).epsilon(0.001));
  CHECK(replayer.speed("batch", replayer.cpu("worker")) == Approx(1.1 / 0.6).epsilon(0.03));
  CHECK(replayer.speed("inter", replayer.cpu("worker")) == Approx(3 / 2.5).epsilon(0.03));
}

TEST_CASE("what is handed to one process is not for the threads of another one") {
  // As above, but each worker is a process.
  Trace trace = two_askers_of_a_pool();
  for (Actor& actor : trace.actors) actor.tgid = static_cast<std::int32_t>(actor.tid);
  const test::Replayer replayer(trace);
  CHECK(replayer.speed("batch", replayer.cpu("worker")) < 1.5);
}

TEST_CASE("without a change each thread gets where it got, on a disk with two channels, too") {
  // The second one of two requests is complete before the first one.
  test::Program program(400'000);
  for (const int tid : {1, 2}) program.thread(tid, "worker");
  for (long at = 0; at + 4000 <= 400'000; at += 4000) {
    program.wait(1, at, at + 3000 + at % 7 * 50, "disk:vda", "class=disk");
    program.wait(2, at + 1000, at + 1500 + at % 5 * 20, "disk:vda", "class=disk");
    program.line(fmt::format("io 1 disk=vda bytes=1 issue={} complete={}", at * 1000,
                             (at + 3000 + at % 7 * 50) * 1000));
    program.line(fmt::format("io 2 disk=vda bytes=1 issue={} complete={}", (at + 1000) * 1000,
                             (at + 1500 + at % 5 * 20) * 1000));
  }
  const Trace trace = program.trace();
  test::Replayer replayer(trace);
  for (DiskChannels& channels : replayer.channels) channels.known = 2;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].kind != ActorKind::thread) continue;
    replayer.input.thread = id;
    const GroupTime time = replay(replayer.input, {{}}, 1).thread;
    CHECK(time.took_ns[0] == Approx(time.done_ns[0]).epsilon(1e-9));
  }
}

TEST_CASE("a thread that is late changes times with one that waits for the same") {
  // 1, 2 and 3 wait for a job; 4 waits elsewhere.
  test::Program program(1000);
  for (const int tid : {1, 2, 3, 4}) program.thread(tid, "worker");
  program.thread(5, "asker");
  const std::string job = "class=futex stack=f;--;pthread_cond_wait;take;worker";
  for (const int tid : {1, 2, 3}) program.wait(tid, tid, 500 + tid, "thread:5", job);
  program.wait(4, 4, 504, "thread:5", "class=futex stack=f;--;pthread_cond_wait;other;worker");
  const Trace trace = program.trace();
  const test::Replayer replayer(trace);
  InOnePlace places(trace, replayer.groups, replayer.kinds, replayer.ties);
  for (const Wait& wait : trace.waits) places.come(trace.sites[wait.site].thread, wait);
  const Wait& first = trace.waits[0];
  places.go(trace.sites[first.site].thread, first);
  Rows now(trace.actors.size(), kBlock, 0);
  const std::vector<double> of_lane = {100, 7, 300, 5};
  for (ActorId id = 0; id < 4; ++id) std::fill_n(now[id], kBlock, of_lane[id]);
  now[0][1] = 50;  // it is in time in this lane
  const std::vector<double> came(kBlock, 60);
  places.take_turn(0, first, came.data(), now, kBlock);
  CHECK(now[0][0] == 7);
  CHECK(now[1][0] == 100);
  CHECK(now[2][0] == 300);
  CHECK(now[3][0] == 5);
  CHECK(now[0][1] == 50);
  CHECK(now[1][1] == 7);
}
