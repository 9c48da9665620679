// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "assembled.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::Lines;
using test::only;
using test::preemption_of;
using test::RecordingByHand;
using test::trace_of;
using test::two_threads;

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

TEST_CASE("the recorder's threads are known, also one whose record was lost") {
  RecordingByHand t(1000, 2000);
  t.recording.recorder = 90;
  t.seen_recorder(91, 500, 1300, "helper");
  t.seen_outside(11, 500, 1300, "offwait");
  t.left(91, 0, OFFWAIT_STATE_RUNNING, 1500);
  t.left(11, 0, OFFWAIT_STATE_RUNNING, 1500);
  offwait_thread& lost = t.left(92, 1100, OFFWAIT_STATE_RUNNING, 1500);
  lost.target = 0;
  lost.tgid = 90;
  CHECK(trace_of(t) == Lines{"thread 10/91 helper [500,-) seen 1300 outside recorder",
                             "thread 10/11 offwait [500,-) seen 1300 outside",
                             "thread 90/92  [1100,-) seen 1500 outside recorder"});
}

TEST_CASE("a thread born in the recording has its parent, if that was recorded") {
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

TEST_CASE("a thread has the CPUs that it may use; a later thread of its tid does not") {
  RecordingByHand t(1000, 2000);
  t.born(12, 1100, "one");
  t.exited(12, 1200);
  t.born(12, 1300, "other");
  t.left(12, 1300, OFFWAIT_STATE_RUNNING, 1300);
  t.recording.allowed_cpus = {{{12, 1100}, {{1, 1}}}, {{13, 1300}, {{0, 0}}}};
  const Trace trace = t.trace();
  REQUIRE(trace.actors.size() == 2);
  CHECK(trace.actors[0].allowed_cpus == CpuList{{1, 1}});
  CHECK(trace.actors[1].allowed_cpus.empty());
}

TEST_CASE("a thread has its process's program, and the title only if it is the main thread") {
  RecordingByHand t(1000, 2000);
  t.born(10, 1100, "main");
  t.born(12, 1200, "worker");
  t.exited(12, 1300);
  t.born(12, 1400, "other");
  t.left(10, 1100, OFFWAIT_STATE_RUNNING, 1100);
  t.left(12, 1400, OFFWAIT_STATE_RUNNING, 1400);
  t.recording.programs = {{"/bin/b", ""}, {"/bin/a", "a: of all"}};
  t.recording.program_of = {{{10, 1100}, 1}, {{12, 1200}, 1}, {{12, 1401}, 0}};
  const Trace trace = t.trace();
  REQUIRE(trace.actors.size() == 3);
  CHECK(trace.actors[0].program == "/bin/a");
  CHECK(trace.actors[0].title == "a: of all");
  CHECK(trace.actors[1].program == "/bin/a");
  CHECK(trace.actors[1].title.empty());
  CHECK(trace.actors[2].program.empty());
}

TEST_CASE("threads of a script have its title until they name themselves") {
  RecordingByHand t(1000, 2000);
  t.born(10, 1100, "python3");
  t.born(12, 1200, "python3");
  t.born(13, 1300, "python3");
  t.named(13, 1350, "pool-1");
  for (const std::uint32_t tid : {10U, 12U, 13U})
    t.left(tid, 1000 + 100 * (tid - 9), OFFWAIT_STATE_RUNNING, 1400);
  t.recording.programs = {{"/usr/bin/python3.11", "python3 app.py"}};
  t.recording.program_of = {{{10, 1100}, 0}, {{12, 1200}, 0}, {{13, 1300}, 0}};
  const Trace trace = t.trace();
  REQUIRE(trace.actors.size() == 3);
  CHECK(trace.actors[0].title == "python3 app.py");
  CHECK(trace.actors[1].title == "python3 app.py");
  CHECK(trace.actors[2].name == "pool-1");
  CHECK(trace.actors[2].title.empty());
  // The main thread says what the process is called in the end, if it is recorded.
  t.recording.programs.push_back({"/usr/bin/python3.11", "app: master"});
  t.recording.program_of[0].second = 1;
  CHECK(t.trace().actors[1].title.empty());
  RecordingByHand without_main(1000, 2000);
  without_main.born(12, 1200, "python3");
  without_main.left(12, 1200, OFFWAIT_STATE_RUNNING, 1400);
  without_main.recording.programs = {{"/usr/bin/python3.11", "python3 app.py"}};
  without_main.recording.program_of = {{{12, 1200}, 0}};
  CHECK(without_main.trace().actors[0].title == "python3 app.py");
}

TEST_CASE("what the CPUs did becomes part of the trace") {
  RecordingByHand t(1000, 2000);
  t.recording.cpu_busy_ns = 900;
  t.recording.cpu_steal_ns = 30;
  t.recording.cpu_times = {{0, 900, 100}};
  t.recording.cpu_quotas = {{"/a", 1, 2, 3, 2, 5}};
  t.recording.memory = {{"/a", true, 10, 9, 8, 7, 6}};
  t.recording.other_processes = {{71, "rustc", 8, 9}};
  const Trace trace = t.trace();
  CHECK(trace.recording.cpu_steal_ns == 30);
  REQUIRE(trace.cpu_times.size() == 1);
  CHECK(trace.cpu_times[0].busy_ns == 900);
  REQUIRE(trace.cpu_quotas.size() == 1);
  CHECK(trace.cpu_quotas[0].throttled_ns == 5);
  REQUIRE(trace.memory.size() == 1);
  CHECK(trace.memory[0].refault_bytes == 7);
  REQUIRE(trace.other_processes.size() == 1);
  CHECK(trace.other_processes[0].children_ns == 9);
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

TEST_CASE("a thread born after the window is left out, with its records") {
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

TEST_CASE("an exit after the window is ignored") {
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

}  // namespace
}  // namespace offwait
