// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/function_ranges.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace offwait;

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

std::uint32_t name_at(const FunctionRanges& ranges, std::uint64_t address) {
  const auto hit = ranges.find(address);
  return hit ? hit->name : kNone;
}

}  // namespace

TEST_CASE("a function covers its size and nothing else") {
  const FunctionRanges ranges({{100, 10, 1000, 1, 0}, {200, 10, 1000, 2, 0}});
  CHECK(name_at(ranges, 99) == kNone);
  CHECK(name_at(ranges, 100) == 1);
  CHECK(name_at(ranges, 109) == 1);
  CHECK(name_at(ranges, 110) == kNone);
  CHECK(name_at(ranges, 209) == 2);
  CHECK(name_at(ranges, 210) == kNone);
  CHECK(FunctionRanges().find(0) == std::nullopt);
  CHECK(FunctionRanges().empty());
}

TEST_CASE("a symbol without size ends at the next symbol or its section's end") {
  const FunctionRanges ranges({{100, 0, 1000, 1, 0}, {200, 0, 250, 2, 0}, {900, 5, 1000, 3, 0}});
  CHECK(name_at(ranges, 199) == 1);
  CHECK(name_at(ranges, 200) == 2);
  CHECK(name_at(ranges, 249) == 2);
  CHECK(name_at(ranges, 250) == kNone);
}

TEST_CASE("a label inside a function is not its name") {
  const FunctionRanges ranges({{100, 50, 1000, 1, 0}, {120, 0, 1000, 2, 0}, {160, 0, 1000, 3, 0}});
  CHECK(name_at(ranges, 130) == 1);
  CHECK(name_at(ranges, 155) == kNone);
  CHECK(name_at(ranges, 165) == 3);
}

TEST_CASE("a nested function interrupts the outer one, which keeps its own beginning") {
  const FunctionRanges ranges({{100, 100, 1000, 1, 0}, {120, 20, 1000, 2, 0}, {190, 20, 1000, 3, 0}});
  CHECK(name_at(ranges, 119) == 1);
  CHECK(name_at(ranges, 120) == 2);
  CHECK(name_at(ranges, 139) == 2);
  CHECK(name_at(ranges, 140) == 1);
  CHECK(ranges.find(140)->begin == 100);
  CHECK(name_at(ranges, 199) == 3);
  CHECK(name_at(ranges, 209) == 3);
  CHECK(name_at(ranges, 210) == kNone);
}

TEST_CASE("one address, several names: a size beats none, then rank, then order") {
  CHECK(name_at(FunctionRanges({{100, 0, 1000, 1, 0}, {100, 8, 1000, 2, 9}}), 100) == 2);
  CHECK(name_at(FunctionRanges({{100, 8, 1000, 1, 2}, {100, 4, 1000, 2, 1}}), 100) == 2);
  CHECK(name_at(FunctionRanges({{100, 8, 1000, 1, 1}, {100, 8, 1000, 2, 1}}), 100) == 1);
}

TEST_CASE("sizes that wrap or leave the section are cut") {
  const FunctionRanges ranges(
      {{100, UINT64_MAX, 150, 1, 0}, {500, 10, 400, 2, 0}, {UINT64_MAX - 1, 9, UINT64_MAX, 3, 0}});
  CHECK(name_at(ranges, 149) == 1);
  CHECK(name_at(ranges, 150) == kNone);
  CHECK(name_at(ranges, 500) == kNone);
  CHECK(name_at(ranges, UINT64_MAX - 1) == 3);
  CHECK(name_at(ranges, UINT64_MAX) == kNone);
}

TEST_CASE("any overlap gives what the rule says, address by address") {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): to be repeatable
  for (int round = 0; round < 500; ++round) {
    std::vector<FunctionSymbol> symbols;
    for (std::uint32_t i = 0; i < 12; ++i) {
      symbols.push_back({random() % 60, 1 + random() % 30, 70, i, 0});
    }
    const FunctionRanges ranges(symbols);
    for (std::uint64_t address = 0; address < 100; ++address) {
      // Expected is the latest begin that covers the address; of several names at one address, the first.
      const FunctionSymbol* expected = nullptr;
      for (const FunctionSymbol& symbol : symbols) {
        bool first = true;
        for (const FunctionSymbol* other = symbols.data(); other != &symbol; ++other) {
          first = first && other->begin != symbol.begin;
        }
        if (first && address >= symbol.begin &&
            address < std::min(symbol.begin + symbol.size, symbol.limit) &&
            (expected == nullptr || symbol.begin > expected->begin)) {
          expected = &symbol;
        }
      }
      const auto hit = ranges.find(address);
      REQUIRE(hit.has_value() == (expected != nullptr));
      if (hit) {
        REQUIRE(hit->name == expected->name);
        REQUIRE(hit->begin == expected->begin);
      }
    }
  }
}
