// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace_builder.h"

#include <catch2/catch.hpp>
#include <vector>

namespace offwait {
namespace {

TEST_CASE("equal sites are one, and each thing that tells sites apart does") {
  TraceBuilder builder;
  const WaitSite site{1, 2, WaitClass::net, 3, 4, false, 5, false, 6};
  CHECK(builder.site(site) == 0);
  std::vector<WaitSite> others(9, site);
  others[0].thread = 9;
  others[1].waker = 9;
  others[2].wait_class = WaitClass::disk;
  others[3].wait_stack = 9;
  others[4].waker_stack = 9;
  others[5].in_flight = true;
  others[6].peer = 9;
  others[7].any_request = true;
  others[8].holder = 9;
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.site(others[i]) == i + 1);
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.site(others[i]) == i + 1);
  CHECK(builder.site(site) == 0);
  CHECK(builder.trace().sites.size() == 10);
}

TEST_CASE("equal stacks are one, and no frames are no stack") {
  TraceBuilder builder;
  CHECK(builder.stack({}) == kNoStack);
  CHECK(builder.stack({1, 2}) == 0);
  CHECK(builder.stack({2, 1}) == 1);
  CHECK(builder.stack({1, 2}) == 0);
  CHECK(builder.trace().stacks.size() == 2);
}

TEST_CASE("the lives of a tid follow each other") {
  TraceBuilder builder;
  CHECK(builder.find_lives(7) == nullptr);
  TidLives& lives = builder.lives_of(7);
  lives.append({100, 200, 1});
  lives.append({200, 200, 2});
  lives.append({200, 300, 3});
  lives.append({400, kNever, 4});
  REQUIRE(builder.find_lives(7) == &lives);
  CHECK(lives.alive_through(99) == nullptr);
  CHECK(lives.alive_through(100)->actor == 1);
  CHECK(lives.alive_through(200)->actor == 1);  // at its exit
  CHECK(lives.alive_through(201)->actor == 3);
  CHECK(lives.alive_through(300)->actor == 3);
  CHECK(lives.alive_through(301) == nullptr);
  CHECK(lives.alive_through(400)->actor == 4);
  CHECK(lives.born_by(301)->actor == 3);
  CHECK(lives.born_by(99) == nullptr);
  CHECK(lives.last().actor == 4);
  CHECK(lives.add({250, 260, 5})->actor == 3);
  CHECK(lives.add({300, 400, 5}) == nullptr);
  CHECK(lives.alive_through(350)->actor == 5);
}

}  // namespace
}  // namespace offwait
