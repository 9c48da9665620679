// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace_builder.h"

#include <catch2/catch.hpp>
#include <vector>

namespace offwait {
namespace {

TEST_CASE("equal sites are one, and sites that differ in any member are two") {
  TraceBuilder builder;
  const WaitSite site{1, 2, WaitClass::net, 3, 4, false, 5, false};
  CHECK(builder.site(site) == 0);
  std::vector<WaitSite> others(8, site);
  others[0].thread = 9;
  others[1].waker = 9;
  others[2].wait_class = WaitClass::disk;
  others[3].wait_stack = 9;
  others[4].waker_stack = 9;
  others[5].in_flight = true;
  others[6].peer = 9;
  others[7].any_request = true;
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.site(others[i]) == i + 1);
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.site(others[i]) == i + 1);
  CHECK(builder.site(site) == 0);
  CHECK(builder.trace().sites.size() == 9);
}

TEST_CASE("equal stacks are one, and no frames are no stack") {
  TraceBuilder builder;
  CHECK(builder.stack({}) == kNoStack);
  CHECK(builder.stack({{1, 2}}) == 0);
  CHECK(builder.stack({{2, 1}}) == 1);
  CHECK(builder.stack({{1, 2}}) == 0);
  CHECK(builder.stack({{1, 2}, StackCut::deep}) == 2);
  CHECK(builder.stack({{}, StackCut::deep}) == 3);
  CHECK(builder.stack({{1, 2}, StackCut::deep}) == 2);
  CHECK(builder.trace().stacks.size() == 4);
}

TEST_CASE("equal frames are one, and frames that differ in any member are two") {
  TraceBuilder builder;
  const Frame frame{"f", {}, 1, "m", "f.c", 7, false, Frame::Kind::user};
  CHECK(builder.frame(frame) == 0);
  std::vector<Frame> others(8, frame);
  others[0].function = "g";
  others[1].begin = 9;
  others[2].offset.reset();
  others[3].module = "n";
  others[4].file = "g.c";
  others[5].line = 8;
  others[6].inlined = true;
  others[7].kind = Frame::Kind::kernel;
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.frame(others[i]) == i + 1);
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.frame(others[i]) == i + 1);
  CHECK(builder.frame(frame) == 0);
}

TEST_CASE("equal peers are one, and peers that differ in role, address or port are two") {
  TraceBuilder builder;
  using Role = Peer::Role;
  const std::vector<Peer> peers = {{Role::client, "10.0.0.5", 80},       {Role::service, "10.0.0.5", 80},
                                   {Role::client, "10.0.0.6", 80},       {Role::client, "10.0.0.5", 81},
                                   {Role::client, "10.0.0.5", kAnyPort}, {Role::client, "10.0.0.5", {}}};
  for (std::size_t i = 0; i < peers.size(); ++i) CHECK(builder.peer(peers[i]) == i);
  for (std::size_t i = 0; i < peers.size(); ++i) CHECK(builder.peer(peers[i]) == i);
}

TEST_CASE("equal objects are one, and objects that differ in any member are two") {
  TraceBuilder builder;
  const Object object{Object::Kind::file,
                      KernelLock::unknown,
                      false,
                      1,
                      2,
                      {3, 4},
                      5,
                      6,
                      7,
                      8,
                      "path",
                      "symbol",
                      "module",
                      9};
  CHECK(builder.object(object) == 0);
  std::vector<Object> others(15, object);
  others[0].kind = Object::Kind::futex;
  others[1].lock = KernelLock::rwsem;
  others[2].deleted = true;
  others[3].tgid = 99;
  others[4].address = 99;
  others[5].device.major = 99;
  others[6].device.minor = 99;
  others[7].inode = 99;
  others[8].generation = 99;
  others[9].hash = 99;
  others[10].file_offset = 99;
  others[11].path = "other";
  others[12].symbol = "other";
  others[13].module = "other";
  others[14].symbol_offset = 99;
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.object(others[i]) == i + 1);
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(builder.object(others[i]) == i + 1);
  CHECK(builder.object(object) == 0);
}

TEST_CASE("the lives of a tid follow each other") {
  TraceBuilder builder;
  CHECK(builder.find_lives(7) == nullptr);
  TidLives& lives = builder.lives_of(7);
  CHECK(lives.add({200, 300, 3}) == nullptr);
  CHECK(lives.add({400, kNever, 4}) == nullptr);
  CHECK(lives.add({100, 200, 1}) == nullptr);
  REQUIRE(builder.find_lives(7) == &lives);
  CHECK(lives.add({250, 350, 5})->actor == 3);
  CHECK(lives.add({400, 400, 5})->actor == 4);
  CHECK(lives.born_by(200)->actor == 3);
  CHECK(lives.born_by(301)->actor == 3);
  CHECK(lives.born_by(99) == nullptr);
  CHECK(lives.add({300, 400, 5}) == nullptr);
  CHECK(lives.born_by(350)->actor == 5);
}

}  // namespace
}  // namespace offwait
