// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/frame_text.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "same_trace.h"
#include "trace/text.h"

using namespace offwait;

namespace {

Frame in_kernel(Frame frame) {
  frame.kind = Frame::Kind::kernel;
  return frame;
}

/// The stack as the writer writes it, for a trace whose only sample has this stack.
std::string written_again(const std::string& stack) {
  const auto trace = parse_text("offwait-waits 1\nwindow 0 10\non_cpu 1 at=1 stack=" + stack + "\n", "f");
  REQUIRE(trace.ok());
  std::string lines;
  for (const std::string& line : frames_of(*trace, trace->cpu_samples[0].stack)) {
    lines += (lines.empty() ? "" : ";") + line;
  }
  return lines;
}

}  // namespace

TEST_CASE("the text of a frame gives its parts") {
  CHECK(
      frame_of_text("ns::work(int)+0x1f (server) at src/db.cc:120") ==
      Frame{
          .function = "ns::work(int)", .offset = 0x1f, .module = "server", .file = "src/db.cc", .line = 120});
  CHECK(frame_of_text("nap(int) (inlined) (server) at src/db.cc:7") ==
        Frame{.function = "nap(int)", .module = "server", .file = "src/db.cc", .line = 7, .inlined = true});
  CHECK(frame_of_text("f+0x1 (my prog (deleted))") ==
        Frame{.function = "f", .offset = 1, .module = "my prog (deleted)"});
  CHECK(frame_of_text("f+0x1 (m) at /look at me/f.c:3") ==
        Frame{.function = "f", .offset = 1, .module = "m", .file = "/look at me/f.c", .line = 3});
  CHECK(frame_of_text("do_futex+0x12") == Frame{.function = "do_futex", .offset = 0x12});
  CHECK(frame_of_text("f(int)") == Frame{.function = "f(int)"});
  CHECK(frame_of_text("main at a.c:5") == Frame{.function = "main", .file = "a.c", .line = 5});
  CHECK(frame_of_text("[server+0x1200]+0x34") == Frame{.begin = 0x1200, .offset = 0x34, .module = "server"});
  CHECK(frame_of_text("[a+0x1+0x2]") == Frame{.offset = 2, .module = "a+0x1"});
}

TEST_CASE("the module says what is in the kernel") {
  CHECK(frame_of_text("schedule+0x5 ([kernel])") ==
        in_kernel({.function = "schedule", .offset = 5, .module = "[kernel]"}));
  CHECK(frame_of_text("schedule ([kernel])") == in_kernel({.function = "schedule", .module = "[kernel]"}));
  CHECK(frame_of_text("[kernel+0xff]") == in_kernel({.offset = 0xff, .module = "kernel"}));
  CHECK(frame_of_text("__vdso_time+0x5 ([vdso])").kind == Frame::Kind::user);
  CHECK(frame_of_text("[kernel+0x10]+0xff").kind == Frame::Kind::user);
  CHECK(frame_of_text("main+0x1 (server)").kind == Frame::Kind::user);
}

TEST_CASE("a text of another form is all function, and stays what it is") {
  for (const char* text : {"",
                           "+0x10",
                           "f+0x010",
                           "f+0xG",
                           "f+0xFF",
                           "f+0x11111111111111111 (m)",
                           "weird (name) here",
                           "(x)",
                           "f at a.c:007",
                           "f at a.c",
                           "f at :3",
                           "f at a.c:4294967296",
                           "[x",
                           "[+0x]",
                           "]",
                           "[]",
                           "--",
                           "[cut]",
                           "+0x1 (m)",
                           " (inlined) ()",
                           "f+0x1 ()",
                           "f (inlined) (m",
                           "[m+0x1]+0x02"}) {
    INFO(text);
    CHECK(frame_of_text(text) == Frame{.function = text});
  }
}

TEST_CASE("any text of a frame or a peer is written as it was read") {
  std::mt19937 random(7);
  constexpr std::string_view kPieces[] = {"f", "+0x", "1f",    " (", "m",  ")",          " at ", "a.c",
                                          ":", "12",  "[",     "]",  "0",  " (inlined)", "--",   "([kernel])",
                                          " ", "*",   "(int)", "::", "\n", "\xff",       ";",    "g"};
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (auto pieces = random() % 10; pieces > 0; --pieces) text += kPieces[random() % std::size(kPieces)];
    INFO(text);
    REQUIRE(to_string(frame_of_text(text)) == text);
    REQUIRE(to_string(peer_of_text(Peer::Role::client, text)) == text);
  }
}

TEST_CASE("the text of a peer gives address and port") {
  using Role = Peer::Role;
  CHECK(peer_of_text(Role::service, "10.0.0.5:3306") == Peer{Role::service, "10.0.0.5", 3306});
  CHECK(peer_of_text(Role::client, "[2001:db8::1]:443") == Peer{Role::client, "2001:db8::1", 443});
  CHECK(peer_of_text(Role::client, "10.0.0.5:*") == Peer{Role::client, "10.0.0.5", kAnyPort});
  for (const char* text : {"db", "", ":", "db:0", "db:65536", "db:+1", "2001:db8::1:443", "[db]:1"}) {
    INFO(text);
    CHECK(peer_of_text(Role::client, text) == Peer{Role::client, text, {}});
  }
}

TEST_CASE("stacks are written as they were read, wherever boundary and cut stand") {
  const Frame user{.function = "u"};
  for (const char* stack :
       {"u", "k;--;u", "k;k;--;u;u", "k;--;u;[cut:%20too%20deep]", "k;--;[cut:%20too%20deep]",
        "[cut:%20too%20deep]", "--", "--;u", "--;--", "--;--;u", "k;--", "k;--;--;u", "k;--;u;--;u",
        "[cut:%20too%20deep];u", "k+0x1%20([kernel])", "k+0x1%20([kernel]);u", "u;k+0x1%20([kernel])",
        "k+0x1%20([kernel]);[cut:%20too%20deep]", "--;[cut:%20too%20deep]"}) {
    std::string wanted = stack;
    for (std::size_t at = wanted.find("%20"); at != std::string::npos; at = wanted.find("%20"))
      wanted.replace(at, 3, " ");
    CHECK(written_again(stack) == wanted);
  }
}

TEST_CASE("a frame is the kernel's or the program's by where it stands") {
  const auto trace = parse_text(
      "offwait-waits 1\nwindow 0 10\n"
      "on_cpu 1 at=1 stack=f;--;f;[cut:%20no%20mapping]\n"
      "on_cpu 1 at=2 stack=f+0x1%20([kernel]);g+0x1%20([ext4])\n"
      "on_cpu 1 at=3 stack=--;f\n",
      "f");
  REQUIRE(trace.ok());
  const Frame f{.function = "f"};
  CHECK(backtrace_of(*trace, 0) == Backtrace{{in_kernel(f), f}, StackCut::no_mapping});
  CHECK(backtrace_of(*trace, 1) == Backtrace{{in_kernel({.function = "f", .offset = 1, .module = "[kernel]"}),
                                              in_kernel({.function = "g", .offset = 1, .module = "[ext4]"})},
                                             {}});
  CHECK(backtrace_of(*trace, 2) == Backtrace{{{.function = "--", .kind = Frame::Kind::boundary}, f}, {}});
}
