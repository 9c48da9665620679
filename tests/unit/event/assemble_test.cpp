// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/assemble.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include <sys/syscall.h>

#include "graph/sweep.h"
#include "model/validate.h"
#include "offwait/loss_counters.h"
#include "offwait/unwind.h"
#include "recordings.h"

namespace offwait {
namespace {

using test::by_thread;
using test::gap_of;
using test::io_of;
using test::kTimer;
using test::preemption_of;
using test::RecordingByHand;
using test::wait_of;
using Lines = std::vector<std::string>;

constexpr std::uint32_t kVda = 254 << 20;

/// The trace's lines, after the analysis has accepted it.
Lines trace_of(const RecordingByHand& recording) {
  const Trace trace = recording.trace();
  const Status valid = validate(trace);
  if (!valid.ok()) FAIL(valid.error().message);
  const Result<Sweep> swept = sweep(trace);
  if (!swept.ok()) FAIL(swept.error().message);
  return test::lines(trace);
}

/// The lines that begin with `word`.
Lines only(const char* word, const Lines& all) {
  Lines some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [word](const std::string& line) { return line.rfind(word, 0) == 0; });
  return some;
}

/// Window [1000, 2000); threads 11 and 12 live throughout and run, but for what the test adds.
RecordingByHand two_threads() {
  RecordingByHand recording(1000, 2000);
  recording.seen(11, 500, 900, "main");
  recording.seen(12, 600, 900, "peer");
  recording.left(11, 500, OFFWAIT_STATE_RUNNING, 900);
  recording.left(12, 600, OFFWAIT_STATE_RUNNING, 900);
  return recording;
}

/// The same, but for how 11 is found at the end.
RecordingByHand found_at_the_end(offwait_state state, std::uint64_t since) {
  RecordingByHand recording(1000, 2000);
  recording.seen(11, 500, 900);
  recording.seen(12, 600, 900);
  recording.left(12, 600, OFFWAIT_STATE_RUNNING, 900);
  recording.left(11, 500, state, since);
  return recording;
}

// --- threads ---------------------------------------------------------------------------------------

TEST_CASE("a wait belongs to its thread, and its waker is the thread that lived then") {
  RecordingByHand t = two_threads();
  t.wait(11, 1100, 1200, 1250, by_thread(12));
  t.wait(12, 1300, 1400, 1400, kTimer);
  CHECK(trace_of(t) == Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000",
                             "timer", "wait 11@500 [1100,1200,1250) futex <- thread 12@600",
                             "wait 12@600 [1300,1400,1400) futex <- timer"});
}

TEST_CASE("a thread is seen from when it is first recorded, but not before its birth or the window") {
  RecordingByHand t(1000, 2000);
  t.seen_outside(11, 500, 1300, "late");
  t.born(12, 1400, "new");
  t.seen(13, 300, 700, "early");
  for (const std::uint32_t tid : {11U, 12U, 13U}) t.left(tid, 0, OFFWAIT_STATE_RUNNING, 1500);
  CHECK(trace_of(t) == Lines{"thread 10/11 late [500,-) seen 1300 outside",
                             "thread 10/12 new [1400,-) seen 1400", "thread 10/13 early [300,-) seen 1000"});
}

TEST_CASE("a thread born in the recording knows who forked it, if that one was recorded") {
  RecordingByHand t(1000, 2000);
  t.seen(11, 500, 1000, "accept");
  t.born(12, 1400, "conn", 11);
  t.born(13, 1400, "conn", 99);
  t.exited(12, 1500);
  t.born(12, 1600, "conn", 13);
  for (const std::uint32_t tid : {11U, 13U}) t.left(tid, 0, OFFWAIT_STATE_RUNNING, 1500);
  t.left(12, 1600, OFFWAIT_STATE_RUNNING, 1600);
  CHECK(trace_of(t) ==
        Lines{"thread 10/11 accept [500,-) seen 1000", "thread 10/12 conn [1400,1500) seen 1400 child of 11",
              "thread 10/13 conn [1400,-) seen 1400", "thread 10/12 conn [1600,-) seen 1600 child of 13"});
}

TEST_CASE("a thread that enters and leaves the target lives each time, and outside between") {
  RecordingByHand t = two_threads();
  t.entered(13, 700, 1100, "guest");
  t.wait(13, 1150, 1200, 1210, by_thread(12));
  t.wait(12, 1300, 1400, 1410, by_thread(13));
  t.exited(13, 1500);
  t.seen_outside(13, 700, 1600, "guest");
  t.wait(12, 1550, 1600, 1610, by_thread(13));
  t.exited(13, 1700);
  t.entered(13, 700, 1700, "guest");
  t.wait(13, 1700, 1800, 1810, by_thread(12));
  t.left(13, 700, OFFWAIT_STATE_RUNNING, 1810);
  CHECK(trace_of(t) ==
        Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000",
              "thread 10/13 guest [1100,1500) seen 1100", "thread 10/13 guest [1500,1700) seen 1600 outside",
              "thread 10/13 guest [1700,-) seen 1700", "wait 13@1100 [1150,1200,1210) futex <- thread 12@600",
              "wait 12@600 [1300,1400,1410) futex <- thread 13@1100",
              "wait 12@600 [1550,1600,1610) futex <- thread 13@1500",
              "wait 13@1700 [1700,1800,1810) futex <- thread 12@600"});
}

TEST_CASE("a thread whose leaving was lost has left when it enters again, and is unknown until then") {
  RecordingByHand t = two_threads();
  t.entered(13, 700, 1100);
  t.wait(13, 1150, 1200, 1210, by_thread(12));
  t.entered(13, 700, 1400);
  t.left(13, 700, OFFWAIT_STATE_RUNNING, 1400);
  CHECK(only("thread 10/13", trace_of(t)) ==
        Lines{"thread 10/13 t [1100,1400) seen 1100", "thread 10/13 t [1400,-) seen 1400"});
  CHECK(only("gap", trace_of(t)) == Lines{"gap 13@1100 [1210,1400)"});
}

TEST_CASE("a reused tid is two threads, each with its own waits and wakings") {
  RecordingByHand t(1000, 2000);
  t.seen(11, 500, 900, "old");
  t.seen(12, 600, 900, "peer");
  t.wait(11, 1100, 1150, 1160, by_thread(12));
  t.wait(12, 1100, 1300, 1310, by_thread(11));
  t.exited(11, 1300);
  t.born(11, 1400, "new");
  t.wait(12, 1350, 1500, 1510, by_thread(11));
  t.wait(11, 1550, 1600, 1600, by_thread(12));
  t.wait(12, 1650, 1700, 1710, by_thread(11));
  t.left(11, 1400, OFFWAIT_STATE_RUNNING, 1600);
  t.left(12, 600, OFFWAIT_STATE_RUNNING, 1710);
  // 12 was blocked when it is said to have woken 11 at 1150, so that one is not believed.
  CHECK(trace_of(t) == Lines{"thread 10/11 old [500,1300) seen 1000", "thread 10/12 peer [600,-) seen 1000",
                             "thread 10/11 new [1400,-) seen 1400", "wait 11@500 [1100,1150,1160) futex <- -",
                             "wait 12@600 [1100,1300,1310) futex <- thread 11@500",
                             "wait 12@600 [1350,1500,1510) futex <- thread 11@1400",
                             "wait 11@1400 [1550,1600,1600) futex <- thread 12@600",
                             "wait 12@600 [1650,1700,1710) futex <- thread 11@1400",
                             "loss waker_impossible 1"});
}

TEST_CASE("at the instant when one life ends and the next begins the old one still wakes") {
  RecordingByHand t = two_threads();
  t.seen(13, 500, 900);
  t.exited(13, 1300);
  t.born(13, 1300);
  t.wait(11, 1200, 1300, 1300, by_thread(13));
  t.wait(11, 1301, 1302, 1303, by_thread(13));
  t.left(13, 1300, OFFWAIT_STATE_RUNNING, 1300);
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1200,1300,1300) futex <- thread 13@500",
                                           "wait 11@500 [1301,1302,1303) futex <- thread 13@1300"});
}

TEST_CASE("a thread whose exit was lost is unknown from its last record on") {
  RecordingByHand t = two_threads();
  t.seen(13, 500, 900);
  t.wait(13, 1100, 1200, 1250, by_thread(12));
  t.seen(14, 550, 900);
  CHECK(only("gap", trace_of(t)).size() == 2);
  CHECK(only("thread 10/13", trace_of(t)) == Lines{"thread 10/13 t [500,-) seen 1000"});
  Lines gaps = only("gap", trace_of(t));
  std::sort(gaps.begin(), gaps.end());
  CHECK(gaps == Lines{"gap 13@500 [1250,2000)", "gap 14@550 [1000,2000)"});
}

TEST_CASE("a thread whose exit was lost ends where its tid is born again, and is unknown until then") {
  RecordingByHand t = two_threads();
  t.seen(13, 500, 900, "old");
  t.wait(13, 1100, 1200, 1250, by_thread(12));
  t.born(13, 1400, "new");
  t.left(13, 1400, OFFWAIT_STATE_RUNNING, 1400);
  const Lines lines = trace_of(t);
  CHECK(only("thread 10/13", lines) ==
        Lines{"thread 10/13 old [500,1400) seen 1000", "thread 10/13 new [1400,-) seen 1400"});
  CHECK(only("gap", lines) == Lines{"gap 13@500 [1250,1400)"});
  CHECK(only("loss", lines).empty());
}

TEST_CASE("a thread born after the window is none, nor are its records anybody's") {
  RecordingByHand t = two_threads();
  t.born(13, 2000);
  t.append(preemption_of(13, 2000, 2010));
  t.wait(13, 2020, 2030, 2040, by_thread(11));
  t.wait(11, 1900, 2035, 2050, by_thread(13));
  t.named(13, 2040, "late");
  t.exited(13, 2060);
  t.born(14, 2100);
  t.left(14, 2100, OFFWAIT_STATE_BLOCKED, 2110);
  CHECK(trace_of(t) == Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000",
                             "wait 11@500 [1900,-,-) futex <- -"});
}

TEST_CASE("an exit after the window is none") {
  RecordingByHand t = two_threads();
  t.seen(13, 500, 900);
  t.exited(13, 2000);
  CHECK(only("thread 10/13", trace_of(t)) == Lines{"thread 10/13 t [500,-) seen 1000"});
  CHECK(only("gap", trace_of(t)).empty());
}

TEST_CASE("the last name that a thread had in the window counts, up to 16 bytes") {
  RecordingByHand t = two_threads();
  t.named(11, 1100, "first");
  t.named(11, 1999, "exactly16bytes!!");
  t.named(11, 2000, "after");
  t.named(77, 1100, "nobody");
  CHECK(only("thread 10/11", trace_of(t)) == Lines{"thread 10/11 exactly16bytes!! [500,-) seen 1000"});
  CHECK(only("thread", trace_of(t)).size() == 2);
}

TEST_CASE("a thread whose first record was lost is known from the kernel's table") {
  RecordingByHand t = two_threads();
  t.left(13, 700, OFFWAIT_STATE_BLOCKED, 1600).target = 0;
  t.wait(13, 1100, 1200, 1250, by_thread(12));
  t.left(14, 1300, OFFWAIT_STATE_RUNNING, 1800).tgid = 99;
  CHECK(trace_of(t) == Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000",
                             "thread 10/13  [700,-) seen 1600 outside", "thread 99/14  [1300,-) seen 1800",
                             "wait 13@700 [1100,1200,1250) futex <- thread 12@600",
                             "wait 13@700 [1600,-,-) futex <- -"});
}

// --- both ends of the window -----------------------------------------------------------------------

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

TEST_CASE("what was over before the window began is not in the trace") {
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

TEST_CASE("a thread woken after the window has not been woken, by nobody") {
  RecordingByHand t = two_threads();
  t.wait(11, 1900, 2000, 2100, by_thread(12));
  t.wait(12, 1950, 2500, 2600, {OFFWAIT_WAKER_DISK, kVda});
  const Lines lines = trace_of(t);
  CHECK(only("wait", lines) ==
        Lines{"wait 11@500 [1900,-,-) futex <- -", "wait 12@600 [1950,-,-) disk <- -"});
  CHECK(only("disk", lines).empty());
  CHECK(only("loss", lines).empty());
}

TEST_CASE("what began after the window is not in the trace") {
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
  SECTION("a waking after the window is none") {
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

TEST_CASE("what a probe found running is unknown only from its unseen switch to there") {
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
  // It was found before it left: that says nothing of now.
  CHECK(since_1200(OFFWAIT_STATE_RUNNABLE, 0, 1200) == Lines{"preempt 11@500 [1200,-)"});
}

// --- waits -----------------------------------------------------------------------------------------

TEST_CASE("a wake that overtook the switch-out makes a wait of no length with its waker") {
  RecordingByHand t = two_threads();
  offwait_wait raced = wait_of(11, 1100, 1100, 1150, by_thread(12));
  raced.flags = OFFWAIT_WAIT_RACED;
  t.append(raced);
  t.wait(12, 1200, 1190, 1250, by_thread(11));
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1100,1150) futex <- thread 12@600",
                                           "wait 12@600 [1200,1200,1250) futex <- thread 11@500"});
}

/// Ended by a packet that `sender` sent `in_flight` ns before, through interface 1.
offwait_wait delivered(std::uint32_t tid, std::uint64_t block, std::uint64_t wake, std::uint64_t run,
                       std::uint32_t sender, std::uint32_t in_flight) {
  offwait_wait wait = wait_of(tid, block, wake, run, by_thread(sender));
  wait.flags = OFFWAIT_WAIT_SENT;
  wait.waker_nic = 1;
  wait.in_flight_ns = in_flight;
  return wait;
}

TEST_CASE("a wait for a packet is cut at the send") {
  RecordingByHand t = two_threads();
  t.recording.nics = {{1, "lo"}};
  t.stack(6, 10, {3});
  SECTION("for the sender up to it, for the interface after it") {
    offwait_wait wait = delivered(11, 1100, 1200, 1250, 12, 30);
    wait.waker_user = 6;
    t.append(wait);
    CHECK(only("wait", trace_of(t)) ==
          Lines{"wait 11@500 [1100,1170,1170) futex <- thread 12@600 waker_stack u10:3",
                "wait 11@500 [1170,1200,1250) futex <- nic lo in flight"});
  }
  SECTION("which may be when it began, or before") {
    t.append(delivered(11, 1100, 1200, 1250, 12, 100));
    t.append(delivered(11, 1300, 1400, 1450, 12, 150));
    CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1100,1100) futex <- thread 12@600",
                                             "wait 11@500 [1100,1200,1250) futex <- nic lo in flight",
                                             "wait 11@500 [1300,1300,1300) futex <- thread 12@600",
                                             "wait 11@500 [1300,1400,1450) futex <- nic lo in flight"});
  }
  SECTION("the sender may sleep by the time it arrives, also where the wait is empty") {
    t.wait(12, 1180, 1500, 1510, kTimer);
    t.append(delivered(11, 1100, 1200, 1250, 12, 30));
    t.append(delivered(11, 1300, 1300, 1350, 12, 150));
    const Lines lines = trace_of(t);
    CHECK(only("wait 11", lines) == Lines{"wait 11@500 [1100,1170,1170) futex <- thread 12@600",
                                          "wait 11@500 [1170,1200,1250) futex <- nic lo in flight",
                                          "wait 11@500 [1300,1300,1350) futex <- thread 12@600"});
    CHECK(only("loss", lines).empty());
  }
  SECTION("by somebody who is not known, or longer ago than can be told: for the interface alone") {
    t.append(delivered(11, 1100, 1200, 1250, 77, 30));
    t.append(delivered(11, 1300, 1400, 1450, 12, UINT32_MAX));
    CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1200,1250) futex <- nic lo",
                                             "wait 11@500 [1300,1400,1450) futex <- nic lo"});
  }
  SECTION("also that of a thread which was woken and has not run yet") {
    t.recording.threads.clear();
    offwait_thread& left = t.left(11, 500, OFFWAIT_STATE_BLOCKED, 1800);
    left.wake_ns = 1900;
    left.waker_kind = OFFWAIT_WAKER_THREAD;
    left.waker_id = 12;
    left.waker_nic = 1;
    left.in_flight_ns = 40;
    left.syscall = 202;
    t.left(12, 600, OFFWAIT_STATE_RUNNING, 1000);
    const Lines waits = only("wait", trace_of(t));
    REQUIRE(waits.size() == 2);
    CHECK(waits[0].find("wait 11@500 [1800,1860,1860) ") == 0);
    CHECK(waits[1].find("wait 11@500 [1860,1900,-) ") == 0);
  }
}

TEST_CASE("intervals of a thread may touch") {
  RecordingByHand t = two_threads();
  t.wait(11, 1100, 1200, 1300, by_thread(12));
  t.append(preemption_of(11, 1300, 1400));
  t.append(gap_of(11, 1400, 1500));
  t.wait(11, 1500, 1500, 1500, by_thread(12));
  t.wait(11, 1500, 1600, 1600, by_thread(12));
  CHECK(trace_of(t) == Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000",
                             "wait 11@500 [1100,1200,1300) futex <- thread 12@600",
                             "wait 11@500 [1500,1500,1500) futex <- thread 12@600",
                             "wait 11@500 [1500,1600,1600) futex <- thread 12@600",
                             "preempt 11@500 [1300,1400)", "gap 11@500 [1400,1500)"});
}

TEST_CASE("the class of a wait is that of its facts") {
  RecordingByHand t = two_threads();
  offwait_wait read = wait_of(11, 1100, 1110, 1110, by_thread(12));
  read.syscall = SYS_read;
  read.fd_kind = OFFWAIT_FD_SOCKET;
  t.append(read);
  offwait_wait kernel = wait_of(11, 1200, 1210, 1210, by_thread(12));
  kernel.flags = OFFWAIT_WAIT_KTHREAD;
  kernel.task_state = 2;
  t.append(kernel);
  offwait_wait fault = wait_of(11, 1300, 1310, 1310, {OFFWAIT_WAKER_DISK, kVda});
  fault.syscall = OFFWAIT_NO_SYSCALL;
  t.append(fault);
  t.recording.disks[kVda] = "vda";
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1110,1110) net <- thread 12@600",
                                           "wait 11@500 [1200,1210,1210) lock <- thread 12@600",
                                           "wait 11@500 [1300,1310,1310) fault <- disk vda"});
}

TEST_CASE("equal sites are one") {
  RecordingByHand t = two_threads();
  for (std::uint64_t at = 1100; at < 1200; at += 10) t.wait(11, at, at + 5, at + 5, by_thread(12));
  t.wait(11, 1300, 1310, 1310, kTimer);
  const Trace trace = t.trace();
  CHECK(trace.sites.size() == 2);
  CHECK(trace.waits.size() == 11);
}

// --- losses ----------------------------------------------------------------------------------------

TEST_CASE("lost records are a gap") {
  RecordingByHand t = two_threads();
  t.append(gap_of(11, 1100, 1200));
  t.wait(11, 1200, 1300, 1300, by_thread(12));
  const Lines lines = trace_of(t);
  CHECK(only("gap", lines) == Lines{"gap 11@500 [1100,1200)"});
  CHECK(only("wait", lines) == Lines{"wait 11@500 [1200,1300,1300) futex <- thread 12@600"});
  CHECK(only("loss", lines).empty());
}

TEST_CASE("records lost since before the recording are a gap from the window's begin or the birth on") {
  // Such a record begins at 0.
  RecordingByHand t = two_threads();
  t.append(gap_of(11, 0, 1200));
  t.born(13, 1300);
  t.append(gap_of(13, 0, 1400));
  t.left(13, 1300, OFFWAIT_STATE_RUNNING, 1400);
  const Lines lines = trace_of(t);
  CHECK(only("gap", lines) == Lines{"gap 11@500 [1000,1200)", "gap 13@1300 [1300,1400)"});
  CHECK(only("loss", lines).empty());
}

TEST_CASE("records still being lost at the end are a gap until the state that the kernel's table has") {
  SECTION("blocked") {
    RecordingByHand t = found_at_the_end(OFFWAIT_STATE_BLOCKED, 1700);
    t.recording.threads.back().second.lost_since_ns = 1400;
    CHECK(only("gap", trace_of(t)) == Lines{"gap 11@500 [1400,1700)"});
    CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1700,-,-) futex <- -"});
  }
  SECTION("running") {
    RecordingByHand t = found_at_the_end(OFFWAIT_STATE_RUNNING, 1700);
    t.recording.threads.back().second.lost_since_ns = 1;
    CHECK(only("gap", trace_of(t)) == Lines{"gap 11@500 [1000,1700)"});
    CHECK(only("loss", trace_of(t)).empty());
  }
  SECTION("after the window") {
    RecordingByHand t = found_at_the_end(OFFWAIT_STATE_BLOCKED, 2200);
    t.recording.threads.back().second.lost_since_ns = 2100;
    CHECK(trace_of(t).size() == 2);
  }
}

TEST_CASE("a waker that was not seen, is not recorded or was not born is unknown and counted") {
  RecordingByHand t = two_threads();
  t.born(13, 1500);
  t.left(13, 1500, OFFWAIT_STATE_RUNNING, 1500);
  t.wait(11, 1100, 1110, 1110, {});
  t.wait(11, 1200, 1210, 1210, by_thread(77));
  t.wait(11, 1300, 1310, 1310, by_thread(13));
  offwait_wait unheard_of = wait_of(11, 1400, 1410, 1410, by_thread(12));
  unheard_of.waker_kind = 200;
  t.append(unheard_of);
  const Lines lines = trace_of(t);
  CHECK(only("wait", lines) ==
        Lines{"wait 11@500 [1100,1110,1110) futex <- -", "wait 11@500 [1200,1210,1210) futex <- -",
              "wait 11@500 [1300,1310,1310) futex <- -", "wait 11@500 [1400,1410,1410) futex <- -"});
  CHECK(only("loss", lines) == Lines{"loss waker_unknown 4"});
}

TEST_CASE("a waker that was itself blocked cannot have woken anybody") {
  RecordingByHand t = two_threads();
  t.stack(6, 10, {3});
  t.wait(12, 1100, 1300, 1310, kTimer);
  SECTION("in the middle of its wait") {
    offwait_wait wait = wait_of(11, 1150, 1200, 1200, by_thread(12));
    wait.wait_user = 6;
    wait.waker_user = 6;
    t.append(wait);
    const Lines lines = trace_of(t);
    CHECK(only("wait 11", lines) == Lines{"wait 11@500 [1150,1200,1200) futex <- - stack u10:3"});
    CHECK(only("loss", lines) == Lines{"loss waker_impossible 1"});
  }
  SECTION("itself") {
    t.wait(11, 1150, 1200, 1200, by_thread(11));
    CHECK(only("wait 11", trace_of(t)) == Lines{"wait 11@500 [1150,1200,1200) futex <- -"});
  }
  SECTION("before and after its wait it can") {
    t.wait(11, 1050, 1100, 1100, by_thread(12));
    t.wait(11, 1200, 1310, 1310, by_thread(12));
    const Lines lines = trace_of(t);
    CHECK(only("wait 11", lines) == Lines{"wait 11@500 [1050,1100,1100) futex <- thread 12@600",
                                          "wait 11@500 [1200,1310,1310) futex <- thread 12@600"});
    CHECK(only("loss", lines).empty());
  }
  SECTION("nor one that is blocked at the end") {
    t.recording.threads.pop_back();
    t.left(12, 600, OFFWAIT_STATE_BLOCKED, 1500);
    t.wait(11, 1550, 1600, 1600, by_thread(12));
    CHECK(only("wait 11", trace_of(t)) == Lines{"wait 11@500 [1550,1600,1600) futex <- -"});
  }
}

TEST_CASE("two that are said to have woken each other while blocked are not believed") {
  RecordingByHand t = two_threads();
  t.wait(11, 1100, 1200, 1250, by_thread(12));
  t.wait(12, 1150, 1200, 1250, by_thread(11));
  CHECK(only("loss", trace_of(t)) == Lines{"loss waker_impossible 2"});
}

TEST_CASE("a record that contradicts others is left out and counted") {
  RecordingByHand t = two_threads();
  t.wait(11, 1100, 1200, 1250, by_thread(12));
  Lines expected = trace_of(t);
  expected.push_back("loss record_invalid 1");
  SECTION("run before block") { t.wait(11, 1400, 1350, 1300, by_thread(12)); }
  SECTION("run before wake") { t.wait(11, 1300, 1500, 1400, by_thread(12)); }
  SECTION("overlap with the wait before") { t.wait(11, 1249, 1300, 1300, by_thread(12)); }
  SECTION("the same again") { t.wait(11, 1100, 1200, 1250, by_thread(12)); }
  SECTION("blocked before the recording, after all") { t.wait(11, 0, 1300, 1300, by_thread(12)); }
  SECTION("overlapping preemption") { t.append(preemption_of(11, 1200, 1300)); }
  SECTION("preemption that ends before it begins") { t.append(preemption_of(11, 1400, 1300)); }
  SECTION("overlapping gap") { t.append(gap_of(11, 1200, 1300)); }
  SECTION("before the thread's birth") { t.wait(12, 599, 1300, 1300, by_thread(11)); }
  SECTION("a thread that nobody knows") { t.wait(77, 1300, 1400, 1400, by_thread(12)); }
  SECTION("a thread event that is none") {
    offwait_thread_record record{};
    record.type = OFFWAIT_RECORD_THREAD;
    record.event = 9;
    record.tid = 11;
    t.append(record);
  }
  CHECK(trace_of(t) == expected);
}

TEST_CASE("nothing may follow what is open, nor an exit") {
  RecordingByHand t = two_threads();
  t.wait(11, 1500, 2000, 2100, by_thread(12));
  t.wait(11, 1600, 1700, 1700, by_thread(12));
  t.seen(13, 500, 900);
  t.exited(13, 1200);
  t.wait(13, 1100, 1250, 1300, by_thread(12));
  const Lines lines = trace_of(t);
  CHECK(only("wait", lines) == Lines{"wait 11@500 [1500,-,-) futex <- -"});
  CHECK(only("loss", lines) == Lines{"loss record_invalid 2"});
}

TEST_CASE("the kernel's losses are passed on, and every counter is there") {
  RecordingByHand t = two_threads();
  t.recording.loss = {{"ringbuf_full", 7}, {"record_invalid", 2}, {"of a newer kernel", 3}};
  t.wait(77, 1300, 1400, 1400, by_thread(12));
  CHECK(only("loss", trace_of(t)) ==
        Lines{"loss of a newer kernel 3", "loss record_invalid 3", "loss ringbuf_full 7"});
  CHECK(t.trace().loss.size() == OFFWAIT_LOSS_COUNT + 1);
  CHECK(t.trace().loss.at("stack_collision") == 0);
}

// --- devices and interrupts ------------------------------------------------------------------------

TEST_CASE("wakers that are no threads bear the names that the kernel gives them") {
  RecordingByHand t = two_threads();
  t.recording.disks = {{kVda, "vda"}};
  t.recording.nics = {{2, "eth0"}};
  t.recording.interrupts = {{24, "virtio0-config"}};
  std::uint64_t at = 1000;
  const auto woken_by = [&t, &at](offwait_waker_kind kind, std::uint32_t id) {
    t.wait(11, at, at + 1, at + 1, {kind, id});
    at += 2;
  };
  woken_by(OFFWAIT_WAKER_DISK, kVda);
  woken_by(OFFWAIT_WAKER_DISK, 8 << 20 | 16);
  woken_by(OFFWAIT_WAKER_NIC, 2);
  woken_by(OFFWAIT_WAKER_NIC, 3);
  woken_by(OFFWAIT_WAKER_TIMER, 5);
  woken_by(OFFWAIT_WAKER_TIMER, 6);
  woken_by(OFFWAIT_WAKER_IRQ, 24);
  woken_by(OFFWAIT_WAKER_IRQ, 25);
  woken_by(OFFWAIT_WAKER_IRQ, OFFWAIT_IRQ_OTHER);
  woken_by(OFFWAIT_WAKER_IRQ, OFFWAIT_IRQ_IDLE);
  for (std::uint32_t vector = 0; vector < 11; ++vector) woken_by(OFFWAIT_WAKER_SOFTIRQ, vector);
  woken_by(OFFWAIT_WAKER_SOFTIRQ, OFFWAIT_SOFTIRQ_RAISED);
  woken_by(OFFWAIT_WAKER_DISK, kVda);
  Lines lines = trace_of(t);
  lines.erase(lines.begin(), lines.begin() + 2);
  lines.resize(21);
  CHECK(lines == Lines{"disk vda",       "disk 8388624",       "nic eth0",         "nic 3",
                       "timer",          "irq virtio0-config", "irq 25",           "irq other",
                       "irq idle",       "softirq HI",         "softirq TIMER",    "softirq NET_TX",
                       "softirq NET_RX", "softirq BLOCK",      "softirq IRQ_POLL", "softirq TASKLET",
                       "softirq SCHED",  "softirq HRTIMER",    "softirq RCU",      "softirq unknown",
                       "softirq raised"});
}

TEST_CASE("requests and counters are kept of disks that somebody waited for, within the window") {
  RecordingByHand t = two_threads();
  t.recording.disks = {{kVda, "vda"}, {kVda + 16, "vdb"}};
  t.append(io_of(11, kVda, 1100, 1200, 4096));
  t.append(io_of(0, kVda, 1150, 1250, 512));
  t.append(io_of(77, kVda, 1160, 1260, 1024));
  t.append(io_of(11, kVda, 900, 1001, 1));
  t.append(io_of(11, kVda, 1999, 2100, 2));
  t.append(io_of(11, kVda, 900, 1000, 3));
  t.append(io_of(11, kVda, 2000, 2100, 4));
  t.append(io_of(11, kVda, 1300, 1299, 5));
  t.append(io_of(11, kVda + 16, 1100, 1200, 6));
  t.wait(11, 1100, 1200, 1210, {OFFWAIT_WAKER_DISK, kVda});
  t.recording.disk_counters = {{kVda, 990, 100, 1}, {kVda + 16, 990, 100, 1}, {kVda, 2010, 300, 3}};
  CHECK(trace_of(t) ==
        Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000", "disk vda",
              "wait 11@500 [1100,1200,1210) disk <- disk vda", "sample vda 990 100 1",
              "sample vda 2010 300 3", "io 11@500 vda [1100,1200) 4096", "io - vda [1150,1250) 512",
              "io - vda [1160,1260) 1024", "io 11@500 vda [900,1001) 1", "io 11@500 vda [1999,2100) 2"});
}

TEST_CASE("how it was recorded and what disks can do is left to the caller") {
  RecordingByHand t = two_threads();
  t.wait(11, 1100, 1200, 1210, {OFFWAIT_WAKER_DISK, kVda});
  const Trace trace = t.trace();
  CHECK(trace.recording.target.empty());
  CHECK(trace.recording.cpus == 0);
  CHECK(trace.capacities.empty());
}

// --- stacks ----------------------------------------------------------------------------------------

struct StoredStack {
  std::uint32_t id;
  std::uint32_t tgid;
  std::vector<std::uint64_t> pcs;
};
struct StackIds {
  std::uint32_t wait_kernel = 0;
  std::uint32_t wait_user = 0;
  std::uint32_t waker_kernel = 0;
  std::uint32_t waker_user = 0;
};

/// What one wait with these ids has for stacks.
std::string stacks_of(const std::vector<StoredStack>& stored, const StackIds& ids) {
  RecordingByHand t = two_threads();
  for (const StoredStack& stack : stored) t.stack(stack.id, stack.tgid, stack.pcs);
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, by_thread(12));
  wait.wait_kernel = ids.wait_kernel;
  wait.wait_user = ids.wait_user;
  wait.waker_kernel = ids.waker_kernel;
  wait.waker_user = ids.waker_user;
  t.append(wait);
  const std::string line = only("wait", trace_of(t)).at(0);
  const std::string head = "wait 11@500 [1100,1200,1200) futex <- thread 12@600";
  REQUIRE(line.rfind(head, 0) == 0);
  return line.substr(head.size());
}

TEST_CASE("kernel and user frames are joined, leaf first, with -- between them if there are both") {
  const std::vector<StoredStack> stored = {{5, 0, {1, 2}}, {6, 10, {3, 4}}};
  CHECK(stacks_of(stored, {}).empty());
  CHECK(stacks_of(stored, {5, 0, 0, 0}) == " stack k1;k2");
  CHECK(stacks_of(stored, {0, 6, 0, 0}) == " stack u10:3;u10:4");
  CHECK(stacks_of(stored, {5, 6, 0, 0}) == " stack k1;k2;--;u10:3;u10:4");
  CHECK(stacks_of(stored, {5, 6, 5, 6}) == " stack k1;k2;--;u10:3;u10:4 waker_stack k1;k2;--;u10:3;u10:4");
  CHECK(stacks_of(stored, {0, 0, 0, 6}) == " waker_stack u10:3;u10:4");
  // Not kept by the kernel.
  CHECK(stacks_of(stored, {5, 7, 0, 0}) == " stack k1;k2");
  CHECK(stacks_of(stored, {7, 8, 0, 0}).empty());
}

TEST_CASE("a sample is of the thread that lived then, with kernel and user frames, in the window") {
  RecordingByHand t = two_threads();
  t.recording.sample_hz = 99;
  t.stack(5, 0, {1, 2});
  t.stack(6, 10, {3});
  const auto sample = [&t](std::uint32_t tid, std::uint64_t at, std::uint32_t user, std::uint32_t kernel) {
    t.append(offwait_sample{OFFWAIT_RECORD_SAMPLE, {}, tid, at, user, kernel});
  };
  sample(11, 999, 6, 0);
  sample(11, 1000, 6, 5);
  sample(12, 1500, 6, 0);
  sample(11, 1999, 0, 0);
  sample(11, 2000, 6, 0);
  CHECK(only("on_cpu", trace_of(t)) == Lines{"on_cpu 11@500 1000 stack k1;k2;--;u10:3",
                                             "on_cpu 12@600 1500 stack u10:3", "on_cpu 11@500 1999"});
  CHECK(only("loss", trace_of(t)).empty());
  CHECK(t.trace().recording.sample_hz == 99);
  sample(13, 1500, 6, 0);
  CHECK(only("loss", trace_of(t)) == Lines{"loss record_invalid 1"});
}

TEST_CASE("a user stack that was cut ends with the reason") {
  const auto stack_with_end = [](offwait_stack_end end, std::uint32_t tgid) {
    RecordingByHand t = two_threads();
    t.stack(6, tgid, {3});
    t.recording.stacks[6].end = static_cast<__u16>(end);
    offwait_wait wait = wait_of(11, 1100, 1200, 1200, kTimer);
    (tgid == 0 ? wait.wait_kernel : wait.wait_user) = 6;
    t.append(wait);
    const Trace trace = t.trace();
    std::vector<std::string> frames;
    for (const FrameId frame : trace.stacks.at(0).frames) frames.push_back(trace.frames[frame]);
    return frames;
  };
  CHECK(stack_with_end(OFFWAIT_STACK_ROOT, 10) == Lines{"u10:3"});
  CHECK(stack_with_end(OFFWAIT_STACK_DEEP, 10) == Lines{"u10:3", "[cut: too deep]"});
  CHECK(stack_with_end(OFFWAIT_STACK_NO_MAPPING, 10) == Lines{"u10:3", "[cut: no mapping]"});
  CHECK(stack_with_end(OFFWAIT_STACK_NO_RULE, 10) == Lines{"u10:3", "[cut: no unwind rule]"});
  CHECK(stack_with_end(OFFWAIT_STACK_NO_FP, 10) == Lines{"u10:3", "[cut: no frame pointer]"});
  CHECK(stack_with_end(OFFWAIT_STACK_UNREADABLE, 10) == Lines{"u10:3", "[cut: stack unreadable]"});
  CHECK(stack_with_end(OFFWAIT_STACK_DEEP, 0) == Lines{"k3"});
}

TEST_CASE(
    "what a thread was found blocked in at the begin is of its first wait, over or not, and of no other") {
  RecordingByHand t(1000, 2000);
  for (const std::uint32_t tid : {11U, 12U, 13U, 14U}) t.seen(tid, 500, 900);
  t.stack(5, 0, {1});
  t.stack(6, 10, {2});
  for (const std::uint32_t tid : {11U, 12U}) t.recording.blocked[{tid, 0}] = {500, 6, 13};
  t.recording.blocked[{14, 0}] = {499, 6, 13};  // of the tid's owner before
  offwait_wait first = wait_of(11, 0, 1500, 1510, by_thread(13));
  first.wait_kernel = 5;
  t.append(first);
  t.wait(11, 1600, 1700, 1700, by_thread(13));
  t.left(11, 500, OFFWAIT_STATE_RUNNING, 1700);
  t.left(13, 500, OFFWAIT_STATE_RUNNING, 900);
  for (const std::uint32_t tid : {12U, 14U}) {
    offwait_thread& blocked = t.left(tid, 500, OFFWAIT_STATE_UNKNOWN, 0);
    blocked.seeded = OFFWAIT_STATE_BLOCKED;
    blocked.wait_kernel = 5;
    blocked.syscall = SYS_futex;
  }
  CHECK(only("wait", trace_of(t)) ==
        Lines{"wait 11@500 [1000,1500,1510) futex <- thread 13@500 stack k1;--;u10:2 held by 13@500",
              "wait 11@500 [1600,1700,1700) futex <- thread 13@500",
              "wait 12@500 [1000,-,-) futex <- - stack k1;--;u10:2 held by 13@500",
              "wait 14@500 [1000,-,-) futex <- - stack k1"});
}

TEST_CASE("a stack that met an unknown mapping is the one walked later, if it was in the same wait") {
  RecordingByHand t = two_threads();
  t.stack(5, 0, {1});
  t.stack(6, 10, {2});
  t.recording.stacks[6].end = OFFWAIT_STACK_NO_MAPPING;
  t.stack(7, 10, {2, 3});
  t.recording.blocked[{11, 1100}] = {500, 7, 0};
  for (const std::uint64_t block : {1100U, 1300U}) {
    offwait_wait wait = wait_of(11, block, block + 100, block + 100, by_thread(12));
    wait.wait_kernel = 5;
    wait.wait_user = 6;
    t.append(wait);
  }
  CHECK(only("wait", trace_of(t)) ==
        Lines{"wait 11@500 [1100,1200,1200) futex <- thread 12@600 stack k1;--;u10:2;u10:3",
              "wait 11@500 [1300,1400,1400) futex <- thread 12@600 stack k1;--;u10:2;[cut: no mapping]"});
}

TEST_CASE("frames without a name are left out, and -- with them") {
  const std::vector<StoredStack> stored = {{5, 0, {0, 0, 1}}, {6, 10, {0}}, {7, 0, {0}}, {8, 10, {3}}};
  CHECK(stacks_of(stored, {5, 8, 0, 0}) == " stack k1;--;u10:3");
  CHECK(stacks_of(stored, {5, 6, 0, 0}) == " stack k1");
  CHECK(stacks_of(stored, {7, 8, 0, 0}) == " stack u10:3");
  CHECK(stacks_of(stored, {7, 6, 0, 0}).empty());
}

TEST_CASE("stacks of the same names are one stack, frames of the same name one frame") {
  RecordingByHand t = two_threads();
  t.stack(5, 0, {0, 1, 2});
  t.stack(6, 0, {1, 0, 2});
  for (const std::uint32_t id : {5U, 6U}) {
    offwait_wait wait = wait_of(11, 1000 + id * 10, 1001 + id * 10, 1002 + id * 10, by_thread(12));
    wait.wait_kernel = id;
    t.append(wait);
  }
  const Trace trace = t.trace();
  CHECK(trace.sites.size() == 1);
  CHECK(trace.stacks.size() == 1);
  CHECK(trace.frames == std::vector<std::string>{"k1", "k2"});
}

TEST_CASE("a stack never has more frames than its record has room for") {
  RecordingByHand t = two_threads();
  offwait_stack& stack = t.recording.stacks[5];
  stack.frames = 60'000;
  std::fill(std::begin(stack.pc), std::end(stack.pc), 9);
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, by_thread(12));
  wait.wait_kernel = 5;
  t.append(wait);
  CHECK(t.trace().stacks.at(0).frames.size() == OFFWAIT_STACK_FRAMES);
}

TEST_CASE("only a thread that woke has a stack of its own: an interrupt's is the interrupted thread's") {
  RecordingByHand t = two_threads();
  t.stack(6, 10, {3});
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, kTimer);
  wait.waker_user = 6;
  t.append(wait);
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1200,1200) futex <- timer"});
}

}  // namespace
}  // namespace offwait
