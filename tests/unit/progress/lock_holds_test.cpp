// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/lock_holds.h"

#include <catch2/catch.hpp>

#include "unit/replay/program.h"

using namespace offwait;

namespace {

constexpr long kTurn = 1000;

std::string lock_wait(const std::string& futex) {
  return "class=futex futex=" + futex + " stack=futex_wait;--;pthread_mutex_lock;update;main";
}

/// Three threads hold a lock in turns, for 1 ms each; each asks again half a millisecond after it let go.
Trace three_in_turns(const std::string& stack = lock_wait("1")) {
  test::Program program(60 * kTurn);
  for (int tid = 1; tid <= 3; ++tid) program.thread(tid, "work");
  for (int turn = 1; turn < 60; ++turn) {
    const int waiter = 1 + turn % 3;
    const int holder = 1 + (turn + 2) % 3;
    program.wait(waiter, std::max(0L, turn * kTurn - 3 * kTurn / 2), turn * kTurn,
                 "thread:" + std::to_string(holder), stack);
  }
  return program.trace();
}

LockHolds holds_of(const Trace& trace, std::size_t most = 3) {
  const ThreadGroups groups = group_threads(trace);
  return {trace, groups, kinds_of_waits(trace, groups), most};
}

}  // namespace

TEST_CASE("a lock is held from the release before, or the own waking, to the release") {
  const Trace trace = three_in_turns();
  const LockHolds holds = holds_of(trace);
  REQUIRE(holds.locks().size() == 1);
  CHECK(holds.locks()[0].waits == 59);
  CHECK(holds.locks()[0].holders == group_threads(trace).group_of[0]);
  std::size_t found = 0;
  for (ActorId thread = 0; thread < 3; ++thread) {
    for (const Hold& hold : holds.of(thread)) {
      CHECK(hold.to - hold.from == kTurn * 1000);
      CHECK(hold.to % (kTurn * 1000) == 0);
      ++found;
    }
  }
  CHECK(found == 59);
}

TEST_CASE("a lock that is not waited for at its release is held from the first wait on") {
  test::Program program(100'000);
  program.thread(1, "work");
  program.thread(2, "work");
  program.wait(2, 7000, 9000, "thread:1", lock_wait("5"));
  program.wait(2, 50'000, 51'000, "thread:1", lock_wait("5"));
  const LockHolds holds = holds_of(program.trace());
  REQUIRE(holds.of(0).size() == 2);
  CHECK(holds.of(0)[0].from == 7'000'000);
  CHECK(holds.of(0)[0].to == 9'000'000);
  CHECK(holds.of(0)[1].from == 50'000'000);
  CHECK(holds.of(1).empty());
}

TEST_CASE("a holder that lacks a CPU is told from one that runs and one that waits") {
  test::Program program(100'000);
  program.thread(1, "work");
  program.thread(2, "work");
  // 1 has the lock for 10 ms: it is off its CPU for 3 ms, sleeps for 2 ms, and queues for 1 ms after that.
  program.wait(2, 10'000, 20'000, "thread:1", lock_wait("5"));
  program.line("preempt 1 out=5000000 run=6000000");  // before it has the lock
  program.line("preempt 1 out=11000000 run=14000000");
  program.wait_and_queue(1, 15'000, 17'000, 18'000, "timer", "class=sleep");
  program.line("preempt 1 out=30000000 run=40000000");  // and after that
  const LockHolds holds = holds_of(program.trace());
  REQUIRE(holds.locks().size() == 1);
  const Lock& lock = holds.locks()[0];
  CHECK(lock.held_ns == 10'000'000);
  CHECK(lock.queued_ns == 4'000'000);
  CHECK(lock.slept_ns == 2'000'000);
  CHECK(lock.ran_ns == 4'000'000);
}

TEST_CASE("the locks that are waited for longest are kept, and hand-overs are no locks") {
  test::Program program(100'000);
  for (int tid = 1; tid <= 2; ++tid) program.thread(tid, "work");
  program.wait(2, 0, 1000, "thread:1", lock_wait("a"));
  program.wait(2, 10'000, 15'000, "thread:1", lock_wait("b"));
  program.wait(2, 20'000, 22'000, "thread:1", lock_wait("c"));
  program.wait(2, 30'000, 90'000, "thread:1",
               "class=futex futex=d stack=futex_do_wait;--;__futex_abstimed_wait;pthread_cond_wait;main");
  program.wait(1, 95'000, 99'000, "thread:2", "class=futex futex=e stack=futex_do_wait;--;main");
  const Trace trace = program.trace();
  const LockHolds two = holds_of(trace, 2);
  REQUIRE(two.locks().size() == 2);
  CHECK(trace.objects[two.locks()[0].object].hash == 0xb);
  CHECK(trace.objects[two.locks()[1].object].hash == 0xc);
  CHECK(holds_of(trace, 9).locks().size() == 3);
}

TEST_CASE("while a thread holds two locks only the first one counts") {
  test::Program program(100'000);
  for (int tid = 1; tid <= 3; ++tid) program.thread(tid, "work");
  program.wait(2, 10'000, 20'000, "thread:1", lock_wait("a"));
  program.wait(3, 15'000, 25'000, "thread:1", lock_wait("b"));
  const LockHolds holds = holds_of(program.trace());
  REQUIRE(holds.of(0).size() == 2);
  CHECK(holds.of(0)[0].to == 20'000'000);
  CHECK(holds.of(0)[1].from == 20'000'000);
  CHECK(holds.of(0)[1].to == 25'000'000);
}

TEST_CASE("the calls for a lock, and the functions that take it, are what CPU samples show of them") {
  Trace trace = three_in_turns();
  const auto frame = [&trace](const char* function, Frame::Kind kind) {
    Frame out;
    out.function = function;
    out.kind = kind;
    trace.frames.push_back(out);
    return static_cast<FrameId>(trace.frames.size() - 1);
  };
  const FrameId kernel = frame("futex_wake", Frame::Kind::kernel);
  const FrameId unlock = frame("port::Mutex::Unlock", Frame::Kind::user);
  const FrameId update = frame("update", Frame::Kind::user);
  const FrameId work = frame("work", Frame::Kind::user);
  trace.stacks.push_back({{kernel, unlock, update, work}, {}});
  trace.stacks.push_back({{update, work}, {}});
  trace.stacks.push_back({{unlock, work}, {}});  // of another lock
  const auto stacks = static_cast<StackId>(trace.stacks.size());
  trace.sites[trace.waits.front().site].waker_stack = stacks - 3;
  trace.cpu_samples = {
      {0, stacks - 3, 1000}, {0, stacks - 2, 2000}, {1, stacks - 1, 3000}, {2, stacks - 1, 4000}};
  const Lock lock = holds_of(trace).locks().at(0);
  CHECK(lock.calls == Approx(0.25));
  CHECK(lock.section == Approx(0.5));
  CHECK(lock.section_samples == 2);
}

TEST_CASE("the kernel's own functions do not tell what a futex is for") {
  test::Program program(100'000);
  for (int tid = 1; tid <= 2; ++tid) program.thread(tid, "work");
  program.wait(2, 0, 1000, "thread:1", "class=futex futex=a stack=futex_do_wait;--;pthread_mutex_lock;main");
  CHECK(holds_of(program.trace()).locks().size() == 1);
}
