// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "assembled.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::Lines;
using test::only;
using test::RecordingByHand;
using test::two_threads;

/// The trace's lines where recordings of more than four threads have relays.
Lines with_relays(const RecordingByHand& recording) {
  REQUIRE(recording.appended);
  const Trace trace = assemble(recording.recording, test::named_stacks(recording.recording), 4);
  const Status valid = validate(trace);
  if (!valid.ok()) FAIL(valid.error().message);
  const Result<Sweep> swept = sweep(trace);
  if (!swept.ok()) FAIL(swept.error().message);
  return test::lines(trace);
}

TEST_CASE("threads that follow each other are one actor, which waits for the one that makes the next") {
  RecordingByHand t = two_threads();
  for (const std::uint32_t i : {0U, 1U, 2U}) {
    const std::uint64_t at = 1100 + 200 * i;
    t.born(20 + i, at, "conn", 11);
    t.wait(20 + i, at + 10, at + 40, at + 45, kTimer);
    t.exited(20 + i, at + 100);
    t.wait(11, at + 20, at + 90, at + 95, by_thread(20 + i));
  }
  const std::string relay = "4194305@1100";
  const Lines lines = with_relays(t);
  CHECK(only("thread", lines) == Lines{"thread 10/11 main [500,-) seen 1000",
                                       "thread 10/12 peer [600,-) seen 1000",
                                       "thread 10/4194305 conn×3 [1100,1600) seen 1100 child of 11"});
  CHECK(only(("wait " + relay).c_str(), lines) ==
        Lines{"wait " + relay + " [1110,1140,1145) futex <- timer",
              "wait " + relay + " [1200,1300,1300) other <- thread 11@500 stack [no thread of it alive]",
              "wait " + relay + " [1310,1340,1345) futex <- timer",
              "wait " + relay + " [1400,1500,1500) other <- thread 11@500 stack [no thread of it alive]",
              "wait " + relay + " [1510,1540,1545) futex <- timer"});
  // Whom they woke was woken by the relay.
  CHECK(only("wait 11", lines) == Lines{"wait 11@500 [1120,1190,1195) futex <- thread " + relay,
                                        "wait 11@500 [1320,1390,1395) futex <- thread " + relay,
                                        "wait 11@500 [1520,1590,1595) futex <- thread " + relay});
  CHECK(only("loss", lines).empty());
}

TEST_CASE("as many relays as lived at once, and threads without a record count") {
  RecordingByHand t = two_threads();
  t.born(20, 1100, "conn", 11);
  t.born(21, 1110, "conn", 12);
  t.exited(20, 1150);
  t.exited(21, 1160);
  t.born(22, 1170, "conn", 12);
  t.born(23, 1170, "conn", 12);
  t.exited(22, 1300);
  t.exited(23, 1300);
  const Lines lines = with_relays(t);
  CHECK(only("thread 10/419", lines) == Lines{"thread 10/4194305 conn×2 [1100,1300) seen 1100 child of 11",
                                              "thread 10/4194306 conn×2 [1110,1300) seen 1110 child of 12"});
  CHECK(only("wait", lines) ==
        Lines{"wait 4194305@1100 [1150,1170,1170) other <- thread 12@600 stack [no thread of it alive]",
              "wait 4194306@1110 [1160,1170,1170) other <- thread 12@600 stack [no thread of it alive]"});
}

TEST_CASE("what is called otherwise, stays or belongs to another process is in no relay with the others") {
  RecordingByHand t = two_threads();
  t.born(20, 1100, "conn-1", 11);
  t.exited(20, 1110);
  t.born(21, 1120, "conn-2", 11);
  t.exited(21, 1130);
  t.born(22, 1140, "log", 11);
  t.exited(22, 1150);
  t.born(23, 1160, "conn-3", 11);
  t.left(23, 1160, OFFWAIT_STATE_RUNNING, 1160);
  t.born(24, 1170, "conn-4", 11);
  t.named(24, 1175, "backup");
  t.exited(24, 1180);
  CHECK(only("thread", with_relays(t)) ==
        Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000",
              "thread 10/4194305 conn-1×2 [1100,1130) seen 1100 child of 11",
              "thread 10/4194306 log [1140,1150) seen 1140 child of 11",
              "thread 10/23 conn-3 [1160,-) seen 1160 child of 11",
              "thread 10/4194307 backup [1170,1180) seen 1170 child of 11"});
}

TEST_CASE("waits without stacks get those of threads of the same relay") {
  RecordingByHand t = two_threads();
  t.stack(1, 10, {0x1});
  t.stack(2, 10, {0x2});
  const auto lived = [&t](std::uint32_t tid, std::uint64_t at, const char* name, std::uint32_t stack) {
    constexpr std::uint32_t kDrawBits = 6;
    const std::uint32_t taken = stack != 0 ? OFFWAIT_DRAW_TAKEN : 0;
    t.born(tid, at, name, 11);
    offwait_wait wait = test::wait_of(tid, at + 1, at + 9, at + 9, kTimer);
    wait.draw = OFFWAIT_DRAW_CHANCE | taken | kDrawBits << OFFWAIT_DRAW_BITS_SHIFT;
    wait.wait_user = stack;
    t.append(wait);
    t.exited(tid, at + 10);
  };
  for (const std::uint32_t i : {0U, 1U, 2U, 3U}) {
    const bool first = i == 0;
    lived(20 + i, 1100 + 20 * i, "conn", first ? 1 : 0);
    lived(40 + i, 1500 + 20 * i, "log", first ? 2 : 0);
  }
  const Lines lines = with_relays(t);
  const auto waits_of = [&lines](const char* relay, const char* stack) {
    const Lines waits = only((std::string("wait ") + relay).c_str(), lines);
    return std::count_if(waits.begin(), waits.end(),
                         [stack](const std::string& line) { return line.find(stack) != std::string::npos; });
  };
  CHECK(waits_of("4194305@1100", "u10:1") == 4);
  CHECK(waits_of("4194306@1500", "u10:2") == 4);
}

TEST_CASE("few threads are single ones") {
  RecordingByHand t = two_threads();
  t.born(20, 1100, "conn", 11);
  t.exited(20, 1110);
  t.born(21, 1120, "conn", 11);
  t.exited(21, 1130);
  CHECK(with_relays(t).size() == 4);
}

}  // namespace
}  // namespace offwait
