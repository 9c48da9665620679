// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/half_of_a_cpu.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <iterator>
#include <vector>

namespace offwait {
namespace {

/// Whether it is owed time after these looks.
bool owed(const std::vector<CpuTurn>& looks) {
  CpuDebt debt;
  for (const CpuTurn& look : looks) debt.look(look);
  return debt.is_owed();
}

}  // namespace

TEST_CASE("a thread that waits for CPUs longer than it runs is owed time, until it has run as long") {
  CHECK_FALSE(owed({{10, 500, true}}));
  CHECK_FALSE(owed({{10, 500, true}, {20, 510, true}}));
  CHECK_FALSE(owed({{10, 500, true}, {20, 505, true}}));
  CHECK(owed({{10, 500, true}, {20, 504, true}}));
  CHECK(owed({{10, 500, true}, {20, 500, true}, {29, 509, true}}));
  CHECK_FALSE(owed({{10, 500, true}, {20, 500, true}, {30, 510, true}}));
}

TEST_CASE("time in which a thread sleeps is not owed, and neither is what it ran before credit") {
  CHECK_FALSE(owed({{10, 500, true}, {20, 501, false}, {90, 501, false}}));
  CHECK(owed({{10, 0, true}, {1010, 1000, true}, {1020, 1001, true}}));
}

TEST_CASE("a thread with a number that another one had has no debt of that one") {
  CHECK_FALSE(owed({{10, 500, true}, {20, 500, true}, {30, 4, true}}));
}

TEST_CASE("a thread of its own looks after the others, while it is wanted") {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  {
    const HalfOfACpu none(false);
    CHECK(threads() == before);
    const HalfOfACpu half(true);
    CHECK(threads() <= before + 1);  // it ends at once where it may not change how threads are scheduled
  }
  CHECK(threads() == before);
}

}  // namespace offwait
