// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of one and the same program show no change, and those of different ones do.
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "diff/compare.h"
#include "unit/diff/server.h"

using namespace offwait;
using namespace offwait::test;

namespace {

// Sanitizers look for other faults, which fewer programs show as well.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kSeeds = 200;
#else
constexpr std::uint64_t kSeeds = 1000;
#endif

/// Programs of different kinds, one for each seed.
Server program(std::uint64_t seed) {
  Server server;
  server.workers = 1 + static_cast<int>(seed % 7);
  server.locked_ms = seed % 3 == 0 ? 0 : 0.1 * static_cast<double>(seed % 5 + 1);
  server.disk_ms = seed % 4 == 0 ? 0 : 0.4 * static_cast<double>(seed % 6 + 1);
  server.responses = seed % 5 != 0;
  server.seconds = 0.3;
  return server;
}

std::uint64_t pairs_with_changes(double run_to_run, std::size_t recordings, std::uint64_t seeds) {
  std::uint64_t out = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Server server = program(seed);
    server.run_to_run = run_to_run;
    out += changes(compared(server, server, 100'000 + 10 * seed, recordings)) > 0 ? 1U : 0U;
  }
  return out;
}

}  // namespace

TEST_CASE("pairs of recordings of one program: no change in 99 % of them") {
  CHECK(pairs_with_changes(0, 1, kSeeds) <= kSeeds / 100);
}

TEST_CASE("pairs of recordings that differ by a few per cent as a whole") {
  CHECK(pairs_with_changes(0.05, 1, 200) <= 4);
  CHECK(pairs_with_changes(0.05, 3, 100) <= 2);
}

TEST_CASE("half of the time at the disk is found, and named first, in each of 100 programs") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Server before;
    before.workers = 1 + static_cast<int>(seed % 7);
    before.disk_ms = 2;
    before.seconds = 1;
    before.run_to_run = 0.03;
    Server after = before;
    after.disk_ms = 1;
    const Comparison comparison = compared(before, after, 500'000 + 10 * seed);
    const ComparedEdge& edge = comparison.edges.front();
    found += edge.weight.change == ComparedAmount::Change::shrank && edge.to.name == "vda" ? 1 : 0;
  }
  CHECK(found >= 90);
}
