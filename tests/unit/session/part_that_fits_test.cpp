// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/part_that_fits.h"

#include <catch2/catch.hpp>
#include <optional>

namespace offwait {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

/// A minute with the same number of bytes in each second.
RecordedSizes even(std::uint64_t bytes_a_second) {
  RecordedSizes sizes;
  sizes.window = {100 * kSecond, 160 * kSecond};
  for (Nanos second = 1; second <= 60; ++second)
    sizes.marks.push_back({(100 + second) * kSecond, static_cast<std::uint64_t>(second) * bytes_a_second});
  return sizes;
}

TEST_CASE("what fits is left as it is") {
  const std::optional<Window> all =
      part_that_fits(even(kMegabyte), {100 * kSecond, 160 * kSecond}, 1000 * kMegabyte);
  REQUIRE(all);
  CHECK(all->begin == 100 * kSecond);
  CHECK(all->end == 160 * kSecond);
}

TEST_CASE("of what does not fit the latest part is taken, the longer the more memory there is") {
  const RecordedSizes sizes = even(10 * kMegabyte);
  const Window whole = sizes.window;
  Nanos longest = 0;
  for (const std::uint64_t memory : {150 * kMegabyte, 300 * kMegabyte, 500 * kMegabyte, 1000 * kMegabyte}) {
    const std::optional<Window> part = part_that_fits(sizes, whole, memory);
    REQUIRE(part);
    CHECK(part->end == whole.end);
    CHECK(part->length() > longest);
    CHECK(part->length() < whole.length());
    longest = part->length();
  }
  // Not the end of the recording, but of the part that was asked for; what is read around it counts.
  const std::optional<Window> early = part_that_fits(sizes, {100 * kSecond, 140 * kSecond}, 1000 * kMegabyte);
  REQUIRE(early);
  CHECK(early->end == 140 * kSecond);
  CHECK(early->length() < part_that_fits(sizes, whole, 1000 * kMegabyte)->length());
}

TEST_CASE("a part is as short as it must be where much was recorded") {
  RecordedSizes sizes = even(kMegabyte);
  const Nanos calm = part_that_fits(sizes, sizes.window, 100 * kMegabyte)->length();
  for (std::size_t second = 50; second < 60; ++second)
    sizes.marks[second].bytes += (second - 49) * 3 * kMegabyte;
  CHECK(part_that_fits(sizes, sizes.window, 100 * kMegabyte)->length() < calm);
}

TEST_CASE("there is no part for too little memory") {
  CHECK_FALSE(part_that_fits(even(kMegabyte), {100 * kSecond, 160 * kSecond}, 8 * kMegabyte));
  CHECK_FALSE(part_that_fits(even(1000 * kMegabyte), {100 * kSecond, 160 * kSecond}, 500 * kMegabyte));
}

}  // namespace
}  // namespace offwait
