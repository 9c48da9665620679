// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/radix_sort.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>

using namespace offwait;

TEST_CASE("a radix sort orders by key and keeps the order of equal keys") {
  std::mt19937_64 random(7);
  for (const std::uint64_t range : {1U, 2U, 2048U, 2049U, 5'000'000U}) {
    const std::uint64_t from = 1'000'003;
    std::vector<std::pair<std::uint64_t, int>> items;
    for (int i = 0; i < 5000; ++i) items.emplace_back(from + random() % range, i);
    std::vector<std::pair<std::uint64_t, int>> sorted = items;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::pair<std::uint64_t, int>> scratch;
    radix_sort(items, scratch, from, from + range, [](const auto& item) { return item.first; });
    CHECK(items == sorted);
  }
}
