// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/partition_near.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

namespace offwait {
namespace {

TEST_CASE("the partition point is found from any guess") {
  for (std::size_t size = 0; size <= 40; ++size) {
    std::vector<std::size_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    for (std::size_t point = 0; point <= size; ++point) {
      for (std::size_t guess = 0; guess <= size; ++guess) {
        REQUIRE(partition_near(std::span<const std::size_t>(numbers), guess,
                               [point](std::size_t number) { return number < point; }) == point);
      }
    }
  }
}

}  // namespace
}  // namespace offwait
