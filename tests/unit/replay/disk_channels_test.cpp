// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/disk_channels.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <queue>
#include <random>

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

}  // namespace

TEST_CASE("the number of a disk's channels is found where requests queue") {
  CHECK(found(1, 0.8).known == 1);
  CHECK(found(2, 0.9).known == 2);
  CHECK(found(4, 0.95).known == 4);
}

TEST_CASE("a disk that no request queues at has no known number of channels") {
  CHECK(found(64, 0.05).known == 0);
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
