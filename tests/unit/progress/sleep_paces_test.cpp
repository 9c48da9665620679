// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/sleep_paces.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "progress/wait_kinds.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

const std::string kSleep = "class=sleep stack=hrtimer_nanosleep;--;usleep;pause;main";
const std::string kDisk = "class=disk stack=io_schedule;--;fdatasync;write_log;main";

/// Numbers from 0 to 1 without a pattern.
double chance(long i) {
  constexpr std::array<double, 16> kNumbers = {0.44, 0.81, 0.12, 0.67, 0.93, 0.28, 0.05, 0.59,
                                               0.74, 0.36, 0.98, 0.21, 0.51, 0.87, 0.03, 0.62};
  return kNumbers[static_cast<std::size_t>(i * 7 + i / 16 * 5) % kNumbers.size()];
}

struct FoundPace {
  WaitKinds kinds;
  SleepPace pace = SleepPace::length;
  WaitKind kind = WaitKind::timer;
  std::string behind{};  ///< the name of SleepPaces::behind
  double period_us = 0;
};

/// What decides the sleeps of thread 1.
FoundPace found(const Trace& trace) {
  const ThreadGroups groups = group_threads(trace);
  FoundPace out{kinds_of_waits(trace, groups)};
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.wait_class != WaitClass::sleep || trace.actors[site.thread].tid != 1) continue;
    const GroupId behind = out.kinds.sleeps.behind[id];
    out.pace = out.kinds.sleeps.of_site[id];
    out.kind = out.kinds.of_site[id];
    out.behind = behind == kNoGroup ? "" : groups.groups[behind].name;
    out.period_us = out.kinds.sleeps.period_ns[id] / 1000;
  }
  return out;
}

/// 20 rounds of writes without a sleep, then 20 with one each, five times.
test::Program bursts() {
  test::Program program(300'000);
  program.thread(1, "writer");
  long at = 0;
  for (long round = 0; round < 200; ++round) {
    at += 100;
    program.wait(1, at, at + 200, "disk:vda", kDisk);
    at += 250;
    if (round % 40 < 20) continue;
    program.wait(1, at, at + 1000, "timer", kSleep);
    at += 1000;
  }
  return program;
}

}  // namespace

TEST_CASE("a thread that sleeps once in each round of its work asked for a time") {
  test::Program program(200'000);
  program.thread(1, "worker");
  long at = 0;
  for (long round = 0; round < 60; ++round) {
    at += 100 + static_cast<long>(100 * chance(round));
    program.wait(1, at, at + 300, "disk:vda", kDisk);
    at += 310;
    const long length = 1000 + static_cast<long>(50 * chance(round + 7));
    program.wait(1, at, at + length, "timer", kSleep);
    at += length;
  }
  const FoundPace here = found(program.trace());
  CHECK(here.pace == SleepPace::length);
  CHECK(here.kind == WaitKind::timer);
}

TEST_CASE("a thread whose period is steadier than its sleeps goes on at a fixed rate") {
  const auto ticks = [](long most_work) {
    test::Program program(400'000);
    program.thread(1, "frame");
    long begin = 0;
    for (long round = 0; round < 40; ++round) {
      const long work = most_work / 2 + static_cast<long>(static_cast<double>(most_work) / 2 * chance(round));
      const long end = begin + (work / 5000 + 1) * 5000;
      program.wait(1, begin + work, end, "timer", kSleep);
      begin = end;
    }
    return found(program.trace());
  };
  const FoundPace early = ticks(2000);
  CHECK(early.pace == SleepPace::clock);
  CHECK(early.kind == WaitKind::timer);
  CHECK(early.period_us == 5000);
  const FoundPace late = ticks(6000);
  CHECK(late.pace == SleepPace::late);
  CHECK(late.period_us == 5000);
}

TEST_CASE("sleeps in bursts while one other group is at work are waits for it") {
  test::Program program = bursts();
  program.thread(2, "compact");
  program.thread(3, "idle");
  long at = 0;
  for (long job = 0; job < 140; ++job) {
    program.wait(2, at + 500, at + 2000, "disk:vdb", kDisk);
    at += 2000;
  }
  program.wait(3, 0, 300'000, "thread:1", "class=pipe");
  const Trace trace = program.trace();
  const FoundPace here = found(trace);
  CHECK(here.pace == SleepPace::thread);
  CHECK(here.kind == WaitKind::throttled);
  CHECK(here.behind == "compact");
  CHECK(here.kinds.sleeps.at_work.size() == 100);
  for (const auto& [wait, thread] : here.kinds.sleeps.at_work) {
    CHECK(trace.sites[trace.waits[wait].site].wait_class == WaitClass::sleep);
    CHECK(trace.actors[thread].tid == 2);
  }
}

TEST_CASE("it is not known what sleeps in bursts are for if no other group, or more than one, is at work") {
  CHECK(found(bursts().trace()).pace == SleepPace::unknown);
  test::Program program = bursts();
  program.thread(2, "compact");
  program.thread(3, "log");
  for (const int tid : {2, 3}) {
    for (long at = 0; at < 280'000; at += 2000) {
      program.wait(tid, at + 500, at + 2000, tid == 2 ? "disk:vdb" : "disk:vdc", kDisk);
    }
  }
  const FoundPace here = found(program.trace());
  CHECK(here.pace == SleepPace::unknown);
  CHECK(here.kind == WaitKind::timer);
}

TEST_CASE("a group that sleeps itself is behind nothing") {
  test::Program program = bursts();
  program.thread(2, "checkpoint");
  // It sleeps while the writer does not.
  for (long burst = 0; burst < 5; ++burst) {
    const long begin = burst * 34'000;
    program.wait(2, begin, begin + 7000, "timer", "class=sleep stack=hrtimer_nanosleep;--;sleep;checkpoint");
  }
  CHECK(found(program.trace()).pace == SleepPace::unknown);
}

TEST_CASE("sleeps in each round may be for a group that is always at work, unless waits for it show") {
  const auto beside = [](long handed) {
    test::Program program(200'000);
    program.thread(1, "writer");
    program.thread(2, "compact");
    long at = 0;
    for (long round = 0; round < 60; ++round) {
      at += 100 + static_cast<long>(100 * chance(round));
      program.wait(1, at, at + 1000, "timer", kSleep);
      at += 1000;
      if (round < handed) program.wait(1, at + 10, at + 20, "thread:2", "class=pipe");
      at += 30;
    }
    for (long job = 0; job < 99; ++job)
      program.wait(2, job * 2000 + 900, job * 2000 + 2000, "disk:vdb", kDisk);
    return found(program.trace()).pace;
  };
  CHECK(beside(0) == SleepPace::unknown);
  CHECK(beside(20) == SleepPace::length);
}

TEST_CASE("sleeps that are no part of each round depend on something") {
  test::Program program(400'000);
  program.thread(1, "txn");
  long at = 0;
  for (long round = 0; round < 120; ++round) {
    at += 500;
    program.wait(1, at, at + 1000, "disk:vda", kDisk);
    at += 1010;
    if (chance(round) > 0.5) continue;
    program.wait(1, at, at + 800, "timer", kSleep);
    at += 800;
  }
  CHECK(found(program.trace()).pace == SleepPace::unknown);
}

TEST_CASE("a few sleeps tell nothing, many threads with a few each no more than chance") {
  test::Program program(400'000);
  program.thread(1, "txn");
  program.thread(2, "busy");
  for (long i = 0; i < 12; ++i) program.wait(1, i * 30'000 + 1000, i * 30'000 + 21'000, "timer", kSleep);
  CHECK(found(program.trace()).pace == SleepPace::length);
  test::Program many(400'000);
  for (int tid = 1; tid <= 40; ++tid) {
    many.thread(tid, "txn");
    long at = 100 * tid;
    for (long i = 0; i < 6; ++i) {
      const long length = 1000 + static_cast<long>(4000 * chance(tid * 11 + i));
      many.wait(tid, at, at + length, "timer", kSleep);
      at += length + 500 + static_cast<long>(1000 * chance(tid * 5 + i * 3));
    }
  }
  CHECK(found(many.trace()).pace == SleepPace::length);
}

TEST_CASE("threads of one group that sleep for different times ask for a time each") {
  test::Program program(400'000);
  for (const int tid : {1, 2}) {
    program.thread(tid, "worker");
    long at = 0;
    for (long round = 0; round < 30; ++round) {
      at += 100 * tid + static_cast<long>(20 * chance(round));
      program.wait(tid, at, at + 300, "disk:vda", kDisk);
      if (tid == 2) program.wait(tid, at + 310, at + 600, "disk:vda", kDisk);
      at += 610;
      const long length = (tid == 1 ? 1000 : 9000) + static_cast<long>(50 * chance(round + 7));
      program.wait(tid, at, at + length, "timer", kSleep);
      at += length;
    }
  }
  CHECK(found(program.trace()).pace == SleepPace::length);
}

TEST_CASE("sleeps that double are no fixed rate") {
  test::Program program(700'000);
  program.thread(1, "client");
  long at = 0;
  for (long round = 0; round < 60; ++round) {
    at += 20 + static_cast<long>(5 * chance(round));
    const long length = 1000L << (round % 6);
    program.wait(1, at, at + length, "timer", kSleep);
    at += length;
  }
  const SleepPace pace = found(program.trace()).pace;
  CHECK(pace != SleepPace::clock);
  CHECK(pace != SleepPace::late);
}

TEST_CASE("sleeps of no length, and periods of none, decide nothing") {
  test::Program program(100'000);
  program.thread(1, "client");
  for (long round = 0; round < 40; ++round) program.wait(1, 10, 10, "timer", kSleep);
  CHECK(found(program.trace()).pace == SleepPace::length);
}
