// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/number_map.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

namespace offwait {
namespace {

TEST_CASE("a map of numbers knows what was added, and nothing else") {
  NumberMap<std::string> map;
  CHECK(map.find(0) == nullptr);
  const auto [first, added] = map.try_emplace(0, "zero");
  CHECK(added);
  CHECK(first == "zero");
  const auto [again, added_again] = map.try_emplace(0, "other");
  CHECK_FALSE(added_again);
  CHECK(again == "zero");
  CHECK(*map.find(0) == "zero");
  CHECK(map.find(1) == nullptr);
  CHECK(map.find(UINT64_MAX) == nullptr);
}

TEST_CASE("a map of numbers keeps all of them as it grows") {
  constexpr std::uint64_t kStride = std::uint64_t{1} << 40;
  NumberMap<std::uint64_t> map;
  for (std::uint64_t i = 0; i < 10'000; ++i) REQUIRE(map.try_emplace(i * kStride, i).second);
  for (std::uint64_t i = 0; i < 10'000; ++i) REQUIRE(*map.find(i * kStride) == i);
  CHECK(map.find(10'000 * kStride) == nullptr);
}

}  // namespace
}  // namespace offwait
