// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/lives.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

TEST_CASE("the lives of a tid follow each other, whatever other tids do") {
  Lives lives;
  CHECK(lives.last(7) == nullptr);
  lives.append(7, {100, 200, 1});
  lives.append(8, {150, kNever, 2});
  lives.append(7, {200, 200, 3});
  lives.append(7, {200, 300, 4});
  lives.append(7, {400, kNever, 5});
  CHECK(lives.last(7)->actor == 5);
  CHECK(lives.last(8)->actor == 2);
  lives.last(8)->exit = 350;
  lives.end();
  const auto alive = [&lives](std::uint32_t tid, Nanos at) {
    const Life* life = lives.alive_through(tid, at);
    return life == nullptr ? kNoActor : life->actor;
  };
  CHECK(alive(7, 99) == kNoActor);
  CHECK(alive(7, 100) == 1);
  CHECK(alive(7, 200) == 1);  // at its exit
  CHECK(alive(7, 201) == 4);
  CHECK(alive(7, 300) == 4);
  CHECK(alive(7, 301) == kNoActor);
  CHECK(alive(7, 400) == 5);
  CHECK(alive(8, 350) == 2);
  CHECK(alive(8, 351) == kNoActor);
  CHECK(alive(9, 100) == kNoActor);
  CHECK(lives.all().size() == 5);
}

TEST_CASE("many empty lives at one instant are passed over at once") {
  Lives lives;
  constexpr std::uint32_t kMany = 100'000;
  for (std::uint32_t i = 0; i < kMany; ++i) lives.append(7, {100, 100, i});
  lives.end();
  for (std::uint32_t i = 0; i < kMany; ++i) REQUIRE(lives.alive_through(7, 100)->actor == 0);
}

}  // namespace
}  // namespace offwait
