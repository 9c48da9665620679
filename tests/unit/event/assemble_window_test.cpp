// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <sys/syscall.h>

#include "assembled.h"

namespace offwait {
namespace {

using test::by_thread;
using test::found_at_the_end;
using test::gap_of;
using test::kTimer;
using test::kVda;
using test::Lines;
using test::only;
using test::preemption_of;
using test::RecordingByHand;
using test::trace_of;
using test::two_threads;

TEST_CASE("a wait that began before the window keeps its beginning") {
  RecordingByHand t = two_threads();
  t.wait(11, 950, 1100, 1150, by_thread(12));
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [950,1100,1150) futex <- thread 12@600"});
}

TEST_CASE("a wait that began before the recording begins with the window, or with the thread") {
  RecordingByHand t = two_threads();
  t.wait(11, 0, 1100, 1150, by_thread(12));
  t.born(13, 1200);
  t.wait(13, 0, 1300, 1300, kTimer);
  t.append(preemption_of(12, 0, 1400));
  t.left(13, 1200, OFFWAIT_STATE_RUNNING, 1300);
  const Lines lines = trace_of(t);
  CHECK(only("wait", lines) == Lines{"wait 11@500 [1000,1100,1150) futex <- thread 12@600",
                                     "wait 13@1200 [1200,1300,1300) futex <- timer"});
  CHECK(only("preempt", lines) == Lines{"preempt 12@600 [1000,1400)"});
}

TEST_CASE(
    "a thread that was woken before the window was blocked no longer than that, and its waker is who lived "
    "then") {
  RecordingByHand t = two_threads();
  t.seen(13, 500, 900);
  t.exited(13, 960);
  t.wait(11, 0, 950, 1005, by_thread(13));
  CHECK(trace_of(t).at(3) == "wait 11@500 [950,950,1005) futex <- thread 13@500");
  CHECK(only("loss", trace_of(t)).empty());
}

TEST_CASE("records that end before the window are not in the trace") {
  RecordingByHand t = two_threads();
  t.wait(11, 910, 920, 1000, by_thread(12));
  t.append(preemption_of(12, 930, 940));
  t.append(gap_of(12, 950, 1000));
  CHECK(trace_of(t) == Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000"});
}

TEST_CASE("a thread woken in the window that runs after it keeps its waker") {
  RecordingByHand t = two_threads();
  t.wait(11, 1900, 1999, 2100, by_thread(12));
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1900,1999,2100) futex <- thread 12@600"});
}

TEST_CASE("a thread woken after the window is still blocked, and has no waker") {
  RecordingByHand t = two_threads();
  t.wait(11, 1900, 2000, 2100, by_thread(12));
  t.wait(12, 1950, 2500, 2600, {OFFWAIT_WAKER_DISK, kVda});
  const Lines lines = trace_of(t);
  CHECK(only("wait", lines) ==
        Lines{"wait 11@500 [1900,-,-) futex <- -", "wait 12@600 [1950,-,-) disk <- -"});
  CHECK(only("disk", lines).empty());
  CHECK(only("loss", lines).empty());
}

TEST_CASE("records that reach the window's end count more than an older table") {
  RecordingByHand t = two_threads();
  t.wait(11, 1900, 2100, 2200, by_thread(12));
  t.left(11, 500, OFFWAIT_STATE_BLOCKED, 1900);
  t.append(preemption_of(12, 1950, 2100));
  t.left(12, 600, OFFWAIT_STATE_RUNNABLE, 1950);
  const Lines lines = trace_of(t);
  CHECK(only("wait", lines) == Lines{"wait 11@500 [1900,-,-) futex <- -"});
  CHECK(only("preempt", lines) == Lines{"preempt 12@600 [1950,2100)"});
  CHECK(only("loss", lines).empty());
}

TEST_CASE("records that begin after the window are not in the trace") {
  RecordingByHand t = two_threads();
  t.wait(11, 2000, 2100, 2200, by_thread(12));
  t.append(preemption_of(12, 2050, 2060));
  t.append(gap_of(12, 2070, 2080));
  CHECK(trace_of(t).size() == 2);
}

TEST_CASE("a preemption and a gap may cross the window's end") {
  RecordingByHand t = two_threads();
  t.append(preemption_of(11, 1900, 2100));
  t.append(gap_of(12, 1950, 2100));
  const Lines lines = trace_of(t);
  CHECK(only("preempt", lines) == Lines{"preempt 11@500 [1900,2100)"});
  CHECK(only("gap", lines) == Lines{"gap 12@600 [1950,2100)"});
}

TEST_CASE("a thread still blocked at the end is blocked from the kernel's table, with class and stack") {
  RecordingByHand t = found_at_the_end(OFFWAIT_STATE_BLOCKED, 1500);
  offwait_thread& left = t.recording.threads.back().second;
  left.syscall = SYS_read;
  left.fd_kind = OFFWAIT_FD_PIPE;
  left.wait_kernel = 5;
  left.wait_user = 6;
  t.stack(5, 0, {1, 2});
  t.stack(6, 10, {3});
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1500,-,-) pipe <- - stack k1;k2;--;u10:3"});
}

TEST_CASE("a thread that was woken and has not run yet has a waker and no run") {
  RecordingByHand t = found_at_the_end(OFFWAIT_STATE_BLOCKED, 1500);
  offwait_thread& left = t.recording.threads.back().second;
  left.waker_kind = OFFWAIT_WAKER_THREAD;
  left.waker_id = 12;
  left.waker_user = 6;
  left.wake_ns = 1700;
  t.stack(6, 10, {3});
  CHECK(only("wait", trace_of(t)) ==
        Lines{"wait 11@500 [1500,1700,-) futex <- thread 12@600 waker_stack u10:3"});

  SECTION("a waking that overtook the switch-out counts from there") {
    left.wake_ns = 1499;
    CHECK(only("wait", trace_of(t)) ==
          Lines{"wait 11@500 [1500,1500,-) futex <- thread 12@600 waker_stack u10:3"});
  }
  SECTION("a waking after the window does not count") {
    left.wake_ns = 2000;
    CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1500,-,-) futex <- -"});
  }
  SECTION("a disk that woke it says what it waited for") {
    left.waker_kind = OFFWAIT_WAKER_DISK;
    left.waker_id = kVda;
    t.recording.disks[kVda] = "vda";
    CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1500,1700,-) disk <- disk vda"});
  }
  SECTION("a waker that is not recorded is unknown") {
    left.waker_id = 77;
    const Lines lines = trace_of(t);
    CHECK(only("wait", lines) == Lines{"wait 11@500 [1500,1700,-) futex <- - waker_stack u10:3"});
    CHECK(only("loss", lines) == Lines{"loss waker_unknown 1"});
  }
}

TEST_CASE("a thread still runnable at the end is preempted without end") {
  CHECK(only("preempt", trace_of(found_at_the_end(OFFWAIT_STATE_RUNNABLE, 1500))) ==
        Lines{"preempt 11@500 [1500,-)"});
}

TEST_CASE("a state that began after the window is not the thread's in the window") {
  for (const offwait_state state : {OFFWAIT_STATE_BLOCKED, OFFWAIT_STATE_RUNNABLE, OFFWAIT_STATE_RUNNING}) {
    CHECK(trace_of(found_at_the_end(state, 2000)).size() == 2);
  }
}

TEST_CASE("a thread that never switched is in the state that the iterator found") {
  RecordingByHand t = found_at_the_end(OFFWAIT_STATE_UNKNOWN, 0);
  std::uint8_t& seeded = t.recording.threads.back().second.seeded;
  SECTION("blocked") {
    seeded = OFFWAIT_STATE_BLOCKED;
    CHECK(trace_of(t).at(2) == "wait 11@500 [1000,-,-) futex <- -");
  }
  SECTION("runnable") {
    seeded = OFFWAIT_STATE_RUNNABLE;
    CHECK(trace_of(t).at(2) == "preempt 11@500 [1000,-)");
  }
  SECTION("running") {
    seeded = OFFWAIT_STATE_RUNNING;
    CHECK(trace_of(t).size() == 2);
  }
  SECTION("not known") { CHECK(trace_of(t).at(2) == "gap 11@500 [1000,2000)"); }
}

TEST_CASE("a thread that a probe found running is unknown only from its unseen switch to then") {
  const auto since_1200 = [](offwait_state state, std::uint64_t wake, std::uint64_t ran) {
    RecordingByHand t = found_at_the_end(state, 1200);
    t.recording.threads.back().second.wake_ns = wake;
    t.recording.threads.back().second.ran_ns = ran;
    Lines lines = trace_of(t);
    lines.erase(lines.begin(), lines.begin() + 2);
    return lines;
  };
  CHECK(since_1200(OFFWAIT_STATE_RUNNABLE, 0, 1300) == Lines{"gap 11@500 [1200,1300)"});
  CHECK(since_1200(OFFWAIT_STATE_BLOCKED, 1250, 1300) ==
        Lines{"wait 11@500 [1200,1250,1250) futex <- -", "gap 11@500 [1250,1300)", "loss waker_unknown 1"});
  // The waking was not seen either.
  CHECK(since_1200(OFFWAIT_STATE_BLOCKED, 0, 1300) == Lines{"gap 11@500 [1200,1300)"});
  // A probe found it before it left the CPU, which says nothing about its present state.
  CHECK(since_1200(OFFWAIT_STATE_RUNNABLE, 0, 1200) == Lines{"preempt 11@500 [1200,-)"});
}

}  // namespace
}  // namespace offwait
