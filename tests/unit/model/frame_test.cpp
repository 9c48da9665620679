// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/frame.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "model/backtrace.h"
#include "model/peer.h"

using namespace offwait;
using Lines = std::vector<std::string>;

TEST_CASE("a frame is written with what is known of it") {
  Frame frame{.function = "ns::work(int)", .offset = 0x1f, .module = "server"};
  CHECK(to_string(frame) == "ns::work(int)+0x1f (server)");
  frame.file = "src/db.cc";
  frame.line = 120;
  CHECK(to_string(frame) == "ns::work(int)+0x1f (server) at src/db.cc:120");
  frame.offset.reset();
  frame.inlined = true;
  CHECK(to_string(frame) == "ns::work(int) (inlined) (server) at src/db.cc:120");
  CHECK(to_string({.function = "read", .offset = 0}) == "read+0x0");
  CHECK(to_string({.begin = 0x1200, .offset = 0x34, .module = "server"}) == "[server+0x1200]+0x34");
  CHECK(to_string({.offset = 0xffffffffffffffff, .module = "unknown"}) == "[unknown+0xffffffffffffffff]");
  CHECK(to_string(Frame{}).empty());
}

TEST_CASE("a function is the same at all of its places") {
  const Frame here{.function = "f", .offset = 1, .module = "m", .file = "f.c", .line = 7};
  const Frame there{.function = "f", .module = "m", .file = "f.c", .line = 9, .inlined = true};
  CHECK(function_of(here) == function_of(there));
  CHECK_FALSE(function_of(here) == function_of({.function = "f", .offset = 1, .module = "n"}));
  const Frame nameless{.begin = 0x1200, .offset = 0x34, .module = "m"};
  CHECK(function_of(nameless) == function_of({.begin = 0x1200, .offset = 0x36, .module = "m"}));
  const Frame place{.offset = 0x1234, .module = "m"};
  CHECK_FALSE(function_of(place) == function_of({.offset = 0x1236, .module = "m"}));
}

TEST_CASE("a stack is written with a boundary behind kernel frames, and with its cut") {
  const Frame kernel{.function = "k", .kind = Frame::Kind::kernel};
  const Frame user{.function = "u"};
  CHECK(to_lines({}).empty());
  CHECK(to_lines({{kernel, kernel}, {}}) == Lines{"k", "k"});
  CHECK(to_lines({{user, user}, {}}) == Lines{"u", "u"});
  CHECK(to_lines({{kernel, user}, {}}) == Lines{"k", "--", "u"});
  CHECK(to_lines({{kernel, user}, StackCut::deep}) == Lines{"k", "--", "u", "[cut: too deep]"});
  CHECK(to_lines({{kernel}, StackCut::no_mapping}) == Lines{"k", "--", "[cut: no mapping]"});
  CHECK(to_lines({{}, StackCut::no_rule}) == Lines{"[cut: no unwind rule]"});
}

TEST_CASE("a peer is written as address and port, IPv6 in brackets") {
  CHECK(to_string(Peer{Peer::Role::service, "10.0.0.5", 3306}) == "10.0.0.5:3306");
  CHECK(to_string(Peer{Peer::Role::service, "2001:db8::1", 443}) == "[2001:db8::1]:443");
  CHECK(to_string(Peer{Peer::Role::client, "10.0.0.5", kAnyPort}) == "10.0.0.5:*");
  CHECK(to_string(Peer{Peer::Role::client, "a:b", {}}) == "a:b");
  CHECK(host_of({Peer::Role::client, "2001:db8::1", 443}) == "[2001:db8::1]");
  CHECK(host_of({Peer::Role::client, "10.0.0.5", 80}) == "10.0.0.5");
}
