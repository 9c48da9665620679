// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/room.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "replay/answers.h"
#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;
using test::answer_about;

namespace {

/// Two threads that each compute for 1.5 ms and then wait for a service for 2.5 ms: 0.75 CPUs of `cpus`.
Trace two_askers(int cpus) {
  test::Program program(400'000, cpus);
  for (const int tid : {1, 2}) {
    program.thread(tid, "worker");
    for (long at = tid == 1 ? 0 : 2000; at + 4000 <= 400'000; at += 4000) {
      program.wait(tid, at + 1500, at + 4000, "nic:eth0", "class=net peer=service:10.0.0.5:3306");
    }
  }
  return program.trace();
}

/// `reader` computes for 2 ms and waits for nothing; the disk with one channel works for 1.5 ms of that.
Trace asynchronous_reader() {
  test::Program program(400'000);
  program.thread(1, "reader");
  program.line("disk vda bytes_per_s=1e9 ios_per_s=100000 capacity=assumed");
  for (long at = 0; at < 400'000; at += 4000) {
    // Two requests at once, which the disk serves one after the other.
    for (const long complete : {1500, 3000}) {
      program.line("io 1 disk=vda bytes=4096 issue=" + std::to_string(at * 1000) +
                   " complete=" + std::to_string((at + complete) * 1000));
    }
    program.wait(1, at + 3800, at + 3999, "timer", "class=sleep");
  }
  return program.trace();
}

/// Four threads, `front`, read all the time, and `back` reads again 3 ms after its last read, from a disk
/// that serves one request at a time for `service_us`.
struct SharedDisk {
  explicit SharedDisk(double service_us) {
    constexpr long kEnd = 700'000;
    using Times =
        std::priority_queue<std::pair<long, int>, std::vector<std::pair<long, int>>, std::greater<>>;
    Times issues;
    for (int tid = 1; tid <= 5; ++tid) {
      program.thread(tid, tid == 5 ? "back" : "front");
      issues.emplace(tid * 100, tid);
    }
    std::mt19937 random(7);
    std::uniform_real_distribution<> varies(0.8, 1.2);
    long free = 0;
    while (true) {
      const auto [issue, tid] = issues.top();
      issues.pop();
      free = std::max(free, issue) + std::lround(service_us * varies(random));
      if (free + 3500 >= kEnd) break;
      program.wait(tid, issue, free, "disk:vda", "class=disk stack=io;--;pread;main");
      program.line("io " + std::to_string(tid) + " disk=vda bytes=1 op=read issue=" +
                   std::to_string(issue * 1000) + " complete=" + std::to_string(free * 1000));
      const long sleeps = tid == 5 ? std::lround(3000 * varies(random)) : 0;
      if (tid == 5) {
        program.wait(5, free + 10, free + sleeps, "timer", "class=sleep stack=k;--;nanosleep;back");
      } else {
        ++reads;
      }
      issues.emplace(free + sleeps + 20 + std::lround(30 * varies(random)), tid);
    }
  }
  test::Program program{700'000};
  double reads = 0;  ///< of `front`
};

}  // namespace

TEST_CASE("no gain needs more CPUs than there are") {
  const Trace one = two_askers(1);
  const Answers bounded = test::answers(one);
  const Answer* const service = answer_about(bounded, Resource::remote);
  REQUIRE(service != nullptr);
  // 0.75 CPUs are used: a third more is all that fits, though each thread alone would gain 45 %. The two
  // queue for the CPU then, which the simulation knows.
  CHECK(service->gain <= 1 / 0.75 - 1 + 0.005);
  CHECK(service->gain >= 0.25);
  const Trace eight = two_askers(8);
  const Answers free = test::answers(eight);
  REQUIRE(answer_about(free, Resource::remote) != nullptr);
  CHECK(answer_about(free, Resource::remote)->gain == Approx(4 / 2.75 - 1).margin(0.02));
  CHECK(answer_about(free, Resource::remote)->certainty == Certainty::sure);
}

TEST_CASE("no gain needs more of the CPUs that its threads are pinned to than there are") {
  Trace trace = two_askers(8);
  for (Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread) actor.allowed_cpus = {{5, 5}};
  }
  for (std::uint32_t cpu = 0; cpu < 8; ++cpu) {
    trace.cpu_times.push_back({cpu, cpu == 5 ? 300'000'000 : 0, cpu == 5 ? 100'000'000 : 400'000'000});
  }
  const Answers bounded = test::answers(trace);
  const Answer* const service = answer_about(bounded, Resource::remote);
  REQUIRE(service != nullptr);
  CHECK(service->gain <= 1 / 0.75 - 1 + 0.005);
  CHECK(service->gain >= 0.25);
}

TEST_CASE("no gain needs more of a disk than there is, though no wait shows how busy it is") {
  const Trace trace = asynchronous_reader();
  const Answers found = test::answers(trace);
  const Answer* const cpu = answer_about(found, Resource::cpu);
  REQUIRE(cpu != nullptr);
  CHECK(cpu->gain == Approx(1 / 0.75 - 1).margin(0.02));
  CHECK(cpu->certainty == Certainty::up_to);
}

TEST_CASE("a gain is in doubt that takes more requests at a time than a disk ever had") {
  // Each request takes 3 ms, and the next one is sent when the one before it is done. How the disk serves
  // two at once is not known.
  test::Program program(400'000);
  program.thread(1, "reader");
  program.line("disk vda bytes_per_s=1e9 ios_per_s=100000 capacity=assumed");
  for (long at = 0; at < 400'000; at += 4000) {
    program.line("io 1 disk=vda bytes=4096 issue=" + std::to_string(at * 1000) +
                 " complete=" + std::to_string((at + 3000) * 1000));
    program.wait(1, at + 3998, at + 3999, "timer", "class=sleep");
  }
  const Trace trace = program.trace();
  const Answers found = test::answers(trace);
  const Answer* const cpu = answer_about(found, Resource::cpu);
  REQUIRE(cpu != nullptr);
  CHECK(cpu->gain == Approx(1).margin(0.02));
  CHECK(cpu->certainty == Certainty::up_to);
  REQUIRE(cpu->low);
  // A third of 80 %: the gain is known to within 20 points, and with a third of it the disk is never idle.
  CHECK(*cpu->low == Approx((1 / 0.75 - 1) * 0.8).margin(0.02));
}

TEST_CASE("a faster disk may gain more than its factor if others that use it go by time") {
  const SharedDisk recorded(1000);
  const double made = SharedDisk(500).reads / recorded.reads - 1;
  CHECK(made > 1.06);
  const Answers found = test::answers(recorded.program.trace(), {}, {"front"});
  const Answer* const disk = answer_about(found, Resource::disk);
  REQUIRE(disk != nullptr);
  REQUIRE(disk->high);
  CHECK(*disk->low <= made);
  CHECK(*disk->high >= made - 0.03);
  CHECK(*disk->high < made + 0.15);
}

TEST_CASE("how much faster requests of one group gain depends on those of others behind which they queue") {
  const Trace trace = SharedDisk(1000).program.trace();
  const Answers found = test::answers(trace, {}, {"front"});
  const ThreadGroups groups = group_threads(trace);
  const auto back = std::find_if(found.answers.begin(), found.answers.end(), [&groups](const Answer& one) {
    return one.change.resource == Resource::io && groups.groups[one.change.group].name == "back";
  });
  // `back` takes a sixth of the disk's time: half of that is for `front`.
  REQUIRE(back != found.answers.end());
  REQUIRE(back->high);
  CHECK(*back->high == Approx(0.1).margin(0.06));
}

TEST_CASE("requests of one group gain less where they queue behind requests that no thread waits for") {
  // `scan` has a request of 2 to 3 ms at the disk from the beginning of each round of 4 ms on; those of
  // `get`, which come 1 ms later, take 0.5 ms of their own.
  test::Program program(800'000);
  program.thread(1, "scan");
  program.thread(2, "get");
  std::mt19937 random(7);
  std::uniform_int_distribution<long> takes(2000, 3000);
  for (long at = 0; at < 800'000; at += 4000) {
    const long scanned = at + takes(random);
    const auto io = [&](int tid, long issue, long complete) {
      program.line("io " + std::to_string(tid) + " disk=vda bytes=1 op=read issue=" +
                   std::to_string(issue * 1000) + " complete=" + std::to_string(complete * 1000));
    };
    io(1, at, scanned);
    io(2, at + 1000, scanned + 500);
    program.wait(2, at + 1000, scanned + 500, "disk:vda", "class=disk stack=io;--;pread;main");
  }
  const Answers found = test::answers(program.trace(), {}, {"get"});
  const auto io = std::find_if(found.answers.begin(), found.answers.end(),
                               [](const Answer& one) { return one.change.resource == Resource::io; });
  REQUIRE(io != found.answers.end());
  REQUIRE(io->low);
  // 0.25 of 4 ms are saved of its own time, and 0.75 more if what it queues behind is faster, too.
  CHECK(io->certainty != Certainty::sure);
  CHECK(*io->low <= 4 / 3.75 - 1 + 0.005);
  CHECK(*io->low > 0.03);
  CHECK(*io->high >= 4 / 3.0 - 1);
  // If the scan's requests come no sooner, the disk is free for 1 to 1.5 ms of each of them.
  const Answer* const disk = answer_about(found, Resource::disk);
  REQUIRE(disk != nullptr);
  REQUIRE(disk->high);
  CHECK(*disk->high > 4 / 2.5 - 1);
  CHECK(*disk->high < 4 / 2.2 - 1);
}
