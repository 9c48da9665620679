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

/// Requests from outside at random times to a disk that serves `channels` at a time, in order.
std::uint32_t found(std::size_t channels, double load) {
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
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  return disk_channels(trace, groups, kinds_of_waits(trace, groups)).back();
}

}  // namespace

TEST_CASE("the number of a disk's channels is found where requests queue") {
  CHECK(found(1, 0.8) == 1);
  CHECK(found(2, 0.9) == 2);
  CHECK(found(4, 0.95) == 4);
}

TEST_CASE("a disk that no request queues at has no known number of channels") { CHECK(found(64, 0.05) == 0); }
