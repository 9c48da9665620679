// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/disk_channels.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "unit/replay/program.h"

using namespace offwait;

namespace {

/// The trace has one disk; these are its channels.
DiskChannels channels_in(const Trace& trace) {
  const ThreadGroups groups = group_threads(trace);
  return disk_channels(trace, groups, kinds_of_waits(trace, groups)).back();
}

/// Requests from outside at random times to a disk that serves `channels` at a time, in order.
DiskChannels found(std::size_t channels, double load) {
  std::mt19937 random(7);
  std::uniform_real_distribution<> varies(0.8, 1.2);
  std::exponential_distribution<> pause(load * static_cast<double>(channels) / 1000);
  test::Program program(10'000'000);
  program.thread(1, "w");
  std::priority_queue<long, std::vector<long>, std::greater<>> free;
  for (std::size_t i = 0; i < channels; ++i) free.push(0);
  double at = 0;
  for (int i = 0; i < 2000; ++i) {
    at += pause(random);
    const long issue = std::lround(at * 1000);
    const long complete = std::max(issue, free.top()) + std::lround(1'000'000 * varies(random));
    free.pop();
    free.push(complete);
    program.line("io 1 disk=vda bytes=1 issue=" + std::to_string(issue) +
                 " complete=" + std::to_string(complete));
  }
  return channels_in(program.trace());
}

/// `threads` that work for `work_us` and then wait for a disk that serves `channels` requests at a time, in
/// order, each for 800 to 1200 µs, or for a time that is distributed exponentially, 1000 µs on average.
DiskChannels in_turns(int threads, long work_us, std::size_t channels, bool exponential) {
  std::mt19937 random(7);
  std::uniform_real_distribution<> varies(0.8, 1.2);
  std::exponential_distribution<> differs(1);
  test::Program program(10'000'000);
  using Times = std::priority_queue<std::pair<long, int>, std::vector<std::pair<long, int>>, std::greater<>>;
  Times issues;
  for (int i = 0; i < threads; ++i) {
    program.thread(i + 1, "w");
    issues.emplace(std::lround(1e5 * varies(random)) * i, i + 1);
  }
  std::priority_queue<long, std::vector<long>, std::greater<>> free;
  for (std::size_t i = 0; i < channels; ++i) free.push(0);
  for (int i = 0; i < 1000; ++i) {
    const auto [issue, tid] = issues.top();
    issues.pop();
    const double takes = exponential ? differs(random) : varies(random);
    const long complete = std::max(issue, free.top()) + std::lround(1e6 * takes) + 1;
    free.pop();
    free.push(complete);
    issues.emplace(complete + std::lround(1000 * static_cast<double>(work_us) * varies(random)), tid);
    program.line("io " + std::to_string(tid) + " disk=vda bytes=1 issue=" + std::to_string(issue) +
                 " complete=" + std::to_string(complete));
  }
  return channels_in(program.trace());
}

}  // namespace

TEST_CASE("the number of a disk's channels is found where requests queue") {
  CHECK(found(1, 0.8).known == 1);
  CHECK(found(2, 0.9).known == 2);
  CHECK(found(4, 0.95).known == 4);
}

TEST_CASE("a disk that no request queues at has no known number of channels") {
  CHECK(found(64, 0.05).known == 0);
}

TEST_CASE("requests that queue all the time show how many are served at a time") {
  // They take nearly alike from their issue on, and as many are under way at all times.
  CHECK(in_turns(5, 100, 1, false).known == 1);
  CHECK(in_turns(4, 1000, 2, false).known == 2);
  CHECK(in_turns(12, 100, 4, false).known == 4);
}

TEST_CASE("requests that are served at once do not queue, however different they are") {
  CHECK(in_turns(6, 100, 6, true).known == 0);
  CHECK(in_turns(6, 100, 6, true).shown >= 4);
  CHECK(in_turns(6, 100, 6, false).known == 0);
}

TEST_CASE("requests of one thread do not meet, and show nothing") {
  CHECK(in_turns(1, 100, 1, false).known == 0);
  CHECK(in_turns(1, 100, 1, false).shown == 1);
}

TEST_CASE("a few requests that meet show nothing") {
  // Each second request is issued while the disk serves the one before it.
  const auto pairs = [](int number) {
    test::Program program(100'000'000);
    program.thread(1, "w");
    for (long i = 0; i < number; ++i) {
      const long at = i * 4'000'000;
      const long first = at + 1'000'000 + i % 5 * 40'000;
      const long second = first + 1'000'000 + i % 7 * 30'000;
      program.line(fmt::format("io 1 disk=vda bytes=1 issue={} complete={}", at, first));
      program.line(fmt::format("io 1 disk=vda bytes=1 issue={} complete={}", at + 500'000, second));
    }
    return channels_in(program.trace()).known;
  };
  CHECK(pairs(10) == 0);
  CHECK(pairs(40) == 1);
}

TEST_CASE("how a disk serves requests at a time shows where they overlap for long") {
  // Requests of 900 to 1100 µs, each issued so long before the one before it is complete.
  const auto overlapping = [](long by) {
    test::Program program(100'000'000);
    program.thread(1, "w");
    long before = 0;
    for (long i = 0; i < 50; ++i) {
      const long issue = std::max(0L, before - by);
      before = issue + 900'000 + i * 37 % 5 * 50'000;
      program.line("io 1 disk=vda bytes=1 issue=" + std::to_string(issue) +
                   " complete=" + std::to_string(before));
    }
    return channels_in(program.trace());
  };
  CHECK(overlapping(-10'000).shown == 1);
  CHECK(overlapping(20'000).shown == 1);
  CHECK(overlapping(800'000).known == 0);
  CHECK(overlapping(800'000).shown == 6);
}
