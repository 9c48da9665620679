// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/path_to_exit.h"

#include <catch2/catch.hpp>

#include "unit/replay/program.h"

using namespace offwait;

namespace {

const std::string kUnknown = "-";

PathToExit path_of(const test::Program& program, ActorId thread = 0) {
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  return path_to_exit(trace, kinds_of_waits(trace, groups), thread);
}

/// A shell that ends at 500 ms; the window is 1 s.
test::Program shell() {
  test::Program program(1'000'000);
  program.thread(1, "sh", "start=0 exit=500000000");
  return program;
}

}  // namespace

TEST_CASE("waits of the thread itself without a known end count, and others do not") {
  test::Program program = shell();
  program.wait(1, 100'000, 150'000, kUnknown, "class=other");
  program.wait(1, 200'000, 400'000, "timer", "class=sleep");
  program.thread(2, "idle");
  program.wait(2, 100'000, 900'000, kUnknown, "class=other");
  const PathToExit path = path_of(program);
  CHECK(path.length_ns == 500'000'000);
  CHECK(path.unknown_ns == 50'000'000);
  CHECK(path.guessed_ns == 0);
}

TEST_CASE("the path goes from a wait to the thread that ended it, and from a birth to the parent") {
  test::Program program = shell();
  program.line("thread 2 tgid=2 comm=cc start=200000000 exit=450000000 parent=1");
  program.wait(1, 50'000, 90'000, kUnknown, "class=other");
  program.wait(1, 210'000, 440'000, "thread:2", "class=child");
  program.wait(2, 300'000, 320'000, kUnknown, "class=other");
  // These are no part of it: the child was created before, and was waited for until 440 ms.
  program.wait(2, 442'000, 449'000, kUnknown, "class=other");
  CHECK(path_of(program).unknown_ns == 60'000'000);
}

TEST_CASE("a wait for what may be a lock is guessed") {
  test::Program program = shell();
  program.thread(2, "worker");
  program.wait(1, 100'000, 130'000, "thread:2", "class=futex futex=7");
  program.wait(2, 10'000, 20'000, "thread:1", "class=futex futex=7");
  const PathToExit path = path_of(program);
  CHECK(path.guessed_ns == 40'000'000);
  CHECK(path.unknown_ns == 0);
}

TEST_CASE("queueing for a CPU counts on the path, after a wait as well as in between") {
  test::Program program = shell();
  program.thread(2, "worker");
  program.thread(3, "idle");
  program.wait_and_queue(1, 100'000, 300'000, 310'000, "thread:2", "class=pipe");
  program.line("preempt 1 out=400000000 run=420000000");
  program.line("preempt 2 out=90000000 run=95000000");
  program.line("preempt 2 out=250000000 run=253000000");
  program.line("preempt 2 out=310000000 run=350000000");  // after it woke the other
  program.line("preempt 3 out=200000000 run=290000000");
  CHECK(path_of(program).runnable_ns == 38'000'000);
}

TEST_CASE("threads that wake each other at one instant are no endless path") {
  test::Program program = shell();
  program.thread(2, "b");
  program.wait(1, 100'000, 200'000, "thread:2", "class=pipe");
  program.wait(2, 100'000, 200'000, "thread:1", "class=pipe");
  CHECK(path_of(program).length_ns == 500'000'000);
}
