// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/by_thread.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace offwait {
namespace {

TEST_CASE("entries by thread are in the order of all, few or so many that CPUs divide them") {
  const std::size_t entries = GENERATE(0U, 1U, 1000U, 450'000U);
  constexpr std::size_t kActors = 7;
  std::vector<ActorId> threads(entries);
  std::vector<std::vector<std::uint32_t>> expected(kActors);
  std::uint32_t state = 1;
  for (std::uint32_t i = 0; i < entries; ++i) {
    state = state * 1664525 + 1013904223;
    threads[i] = (state >> 16) % (kActors - 1);  // the last one has none
    expected[threads[i]].push_back(i);
  }
  const ByThread by_thread(kActors, threads, [](ActorId thread) { return thread; });
  for (ActorId thread = 0; thread < kActors; ++thread) {
    const auto found = by_thread.of(thread);
    const bool same = std::vector(found.begin(), found.end()) == expected[thread];
    CHECK(same);
  }
}

}  // namespace
}  // namespace offwait
