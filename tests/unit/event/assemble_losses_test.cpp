// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "assembled.h"
#include "offwait/loss_counters.h"

namespace offwait {
namespace {

using test::by_thread;
using test::found_at_the_end;
using test::gap_of;
using test::kTimer;
using test::Lines;
using test::only;
using test::preemption_of;
using test::RecordingByHand;
using test::trace_of;
using test::two_threads;
using test::wait_of;

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

TEST_CASE("a waker that was itself blocked cannot have woken another thread") {
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

TEST_CASE("records of two threads that woke each other while blocked are not believed") {
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
  SECTION("an unknown thread") { t.wait(77, 1300, 1400, 1400, by_thread(12)); }
  SECTION("an unknown thread event") {
    offwait_thread_record record{};
    record.type = OFFWAIT_RECORD_THREAD;
    record.event = 9;
    record.tid = 11;
    t.append(record);
  }
  CHECK(trace_of(t) == expected);
}

TEST_CASE("no record may follow an open interval or an exit") {
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

}  // namespace
}  // namespace offwait
