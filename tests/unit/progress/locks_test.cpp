// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/locks.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include <fmt/format.h>

#include "progress/wait_kinds.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

constexpr long kPass = 1000;

ContendedLocks locks_of(const Trace& trace) { return kinds_of_waits(trace, group_threads(trace)).locks; }

std::string thread(int tid) { return "thread:" + std::to_string(tid); }

std::string condition(int object, const std::string& place) {
  return "class=futex futex=" + std::to_string(object) + " stack=futex_wait;--;pthread_cond_wait;" + place +
         ";main";
}

/// `threads` have something in turns; each waits for its turn on an object of its own.
Trace in_turns(int threads, const std::string& call = "pthread_cond_wait;enter;main") {
  test::Program program(60 * kPass);
  for (int tid = 1; tid <= threads; ++tid) program.thread(tid, "work");
  for (int turn = threads; turn < 60; ++turn) {
    const int waiter = 1 + turn % threads;
    const int holder = 1 + (turn - 1) % threads;
    program.wait(waiter, (turn - threads) * kPass + kPass + kPass / 2, turn * kPass, thread(holder),
                 fmt::format("class=futex futex={} stack=futex_wait;--;{}", waiter, call));
  }
  return program.trace();
}

}  // namespace

TEST_CASE("what threads pass on in turns is one lock at the place where each waits on an object of its own") {
  const Trace trace = in_turns(4);
  const ContendedLocks locks = locks_of(trace);
  REQUIRE(locks.all.size() == 1);
  CHECK(locks.all[0].object == kNoObject);
  CHECK(locks.all[0].evidence == LockEvidence::behaviour);
  CHECK(locks.all[0].waits == 56);
}

TEST_CASE("the object that a library's mutex lets each thread wait on is not the mutex") {
  for (const std::string wait :
       {"absl::debian3::synchronization_internal::Waiter::Wait;AbslInternalPerThreadSemWait_debian3;"
        "absl::debian3::Mutex::Block;absl::debian3::Mutex::LockSlowLoop;absl::debian3::Mutex::LockSlow;"
        "absl::debian3::Mutex::Lock",
        "<ThreadParker%20as%20ThreadParkerT>::park;parking_lot_core::parking_lot::park;"
        "parking_lot::raw_mutex::RawMutex::lock_slow"}) {
    INFO(wait);
    const Trace trace = in_turns(4, wait + ";enter;main");
    const ContendedLocks locks = locks_of(trace);
    REQUIRE(locks.all.size() == 1);
    CHECK(locks.all[0].object == kNoObject);
    CHECK(locks.all[0].evidence == LockEvidence::name);
    CHECK(trace.frames[locks.all[0].place].function == "enter");
    CHECK(locks.all[0].waits == 56);
  }
}

TEST_CASE("two threads that let each other go in turns by conditions have no lock") {
  CHECK(locks_of(in_turns(2)).all.empty());
}

TEST_CASE("two threads that look again and again whether one thing is free have a lock") {
  test::Program program(100 * kPass);
  for (int tid = 1; tid <= 2; ++tid) program.thread(tid, "work");
  program.line("object 1 kind=futex tgid=1 address=64");
  const std::string one = "class=futex object=1 stack=futex_wait;--;pthread_cond_timedwait;enter;main";
  for (int turn = 0; turn < 48; ++turn) {
    const long at = turn * 2 * kPass;
    const int waiter = 1 + turn % 2;
    program.wait(waiter, at + 100, at + 1100, "timer", one);
    program.wait(waiter, at + 1120, at + 2000, thread(3 - waiter), one);
  }
  REQUIRE(locks_of(program.trace()).all.size() == 1);
  CHECK(locks_of(program.trace()).all[0].evidence == LockEvidence::behaviour);
}

TEST_CASE("a thread that is woken when another one has just taken a lock waits on for the same lock") {
  // As CPython's lock does: in two turns of three a thread whose time-out is over takes it, before the one
  // that was woken comes.
  test::Program program(400 * kPass);
  for (int tid = 1; tid <= 3; ++tid) program.thread(tid, "work");
  program.line("object 1 kind=futex tgid=1 address=64");
  const std::string one = "class=futex object=1 stack=futex_wait;--;pthread_cond_timedwait;enter;main";
  const auto wait = [&](int tid, long from, long to, const std::string& waker) {
    if (to - from > 2 * kPass) {
      program.wait(tid, from, from + kPass, "timer", one);
      from += kPass + 10;
    }
    program.wait(tid, from, to, waker, one);
  };
  std::map<int, long> since{{2, 50}, {3, 60}};  // by tid: when it began to wait
  int holder = 1;
  for (long at = 4 * kPass; at < 390 * kPass; at += 4 * kPass) {
    const int next = 1 + holder % 3;
    const int another = 1 + next % 3;
    const int woken = since[next] < since[another] ? next : another;  // the one that has waited longest
    const int other = next + another - woken;
    wait(woken, since[woken], at, thread(holder));
    since[holder] = at + 50;
    if (at / (4 * kPass) % 3 == 0) {
      holder = woken;
      continue;
    }
    wait(other, since[other], at - 20, "timer");
    since[woken] = at + 10;
    holder = other;
  }
  const Trace trace = program.trace();
  const WaitKinds kinds = kinds_of_waits(trace, group_threads(trace));
  REQUIRE(kinds.locks.all.size() == 1);
  CHECK(kinds.locks.all[0].evidence == LockEvidence::behaviour);
  CHECK(kinds.locks.all[0].object != kNoObject);
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const bool timed = trace.actors[trace.sites[id].waker].kind == ActorKind::timer;
    CHECK(kinds.of_site[id] == (timed ? WaitKind::looked : WaitKind::lock));
  }
}

TEST_CASE("two places that threads have for a moment each are no lock") {
  // Each of eight threads has a place for 40 µs, gives it to the one that has waited longest, and waits
  // again.
  test::Program program(20'000);
  for (int tid = 1; tid <= 8; ++tid) program.thread(tid, "work");
  for (long turn = 8; turn < 900; ++turn) {
    const auto at_turn = [](long number) { return static_cast<int>(1 + number % 8); };
    program.wait(at_turn(turn), (turn - 6) * 20 + 1, turn * 20, thread(at_turn(turn - 2)),
                 condition(9, "enter"));
  }
  CHECK(locks_of(program.trace()).all.empty());
}

TEST_CASE("a barrier, whose last thread lets all others go, is no lock") {
  test::Program program(100 * kPass);
  for (int tid = 1; tid <= 4; ++tid) program.thread(tid, "work");
  for (int round = 0; round < 30; ++round) {
    for (int i = 1; i < 4; ++i) {
      program.wait(1 + (round + i) % 4, (3 * round + 1) * kPass, (3 * round + 3) * kPass,
                   thread(1 + round % 4), condition(9, "meet"));
    }
  }
  CHECK(locks_of(program.trace()).all.empty());
}

TEST_CASE("a queue, which a thread fills that does not wait there, is no lock") {
  test::Program program(100 * kPass);
  for (int tid = 1; tid <= 4; ++tid) program.thread(tid, tid == 4 ? "fill" : "work");
  for (int turn = 3; turn < 90; ++turn) {
    program.wait(1 + turn % 3, (turn - 3) * kPass + kPass / 2, turn * kPass, thread(4), condition(9, "pop"));
  }
  CHECK(locks_of(program.trace()).all.empty());
}

TEST_CASE("threads that wait for each other in a ring, each in a function of its own, have no lock") {
  test::Program program(60 * kPass);
  for (int tid = 1; tid <= 4; ++tid) program.thread(tid, "work");
  for (int turn = 4; turn < 60; ++turn) {
    const int waiter = 1 + turn % 4;
    program.wait(waiter, (turn - 3) * kPass + kPass / 2, turn * kPass, thread(1 + (turn - 1) % 4),
                 "class=futex futex=" + std::to_string(waiter) +
                     " stack=futex_wait;--;pthread_cond_wait;step_" + std::to_string(waiter));
  }
  CHECK(locks_of(program.trace()).all.empty());
}

TEST_CASE("the mutex of a condition that is a lock is a part of that lock, and another mutex is not") {
  test::Program program(200 * kPass);
  for (int tid = 1; tid <= 4; ++tid) program.thread(tid, "work");
  for (const int id : {1, 2, 3}) {
    program.line("object " + std::to_string(id) + " kind=futex tgid=1 address=" + std::to_string(64 * id));
  }
  const std::string one = "class=futex object=1 stack=futex_wait;--;pthread_cond_wait;take;main";
  const std::string mutex =
      "class=futex object=2 "
      "stack=futex_wait;--;__lll_lock_wait;__pthread_mutex_cond_lock;pthread_cond_wait;take;main";
  const std::string other =
      "class=futex object=3 stack=futex_wait;--;__lll_lock_wait;pthread_mutex_lock;log;main";
  for (int turn = 4; turn < 80; ++turn) {
    const int waiter = 1 + turn % 4;
    const int holder = 1 + (turn - 1) % 4;
    const long got = turn * 2 * kPass;
    program.wait(waiter, got - 6 * kPass, got, thread(holder), one);
    program.wait(waiter, got + 10, got + 20, thread(holder), mutex);
    if (turn % 8 == 0) program.wait(waiter, got + 100, got + 200, thread(holder), other);
  }
  const Trace trace = program.trace();
  const ContendedLocks locks = locks_of(trace);
  REQUIRE(locks.all.size() == 2);
  CHECK(trace.objects[locks.all[0].object].address == 0x64);
  CHECK(locks.all[0].waits == 152);
  CHECK(trace.objects[locks.all[1].object].address == 0x192);
}

TEST_CASE(
    "threads that all stop until one lets them go wait for no lock, though some were on their way to one") {
  test::Program program(100 * kPass);
  program.thread(1, "stopper");
  for (int tid = 2; tid <= 4; ++tid) program.thread(tid, "worker");
  for (int round = 0; round < 30; ++round) {
    for (int tid = 2; tid <= 4; ++tid) {
      const std::string from = round % 10 == 0 ? "Mutex::lock(Thread*);main" : "work;main";
      program.wait(tid, (3 * round + 1) * kPass, (3 * round + 2) * kPass, thread(1),
                   "class=futex futex=9 stack=futex_wait;--;syscall;LinuxWaitBarrier::wait(int);" + from);
    }
  }
  CHECK(locks_of(program.trace()).all.empty());
}

TEST_CASE("one stack that says lock does not make a lock of what threads hand over") {
  test::Program program(100 * kPass);
  for (int tid = 1; tid <= 4; ++tid) program.thread(tid, tid == 4 ? "fill" : "work");
  for (int turn = 3; turn < 90; ++turn) {
    const std::string wrong = "class=futex futex=9 stack=futex_wait;--;pthread_mutex_lock;log;main";
    program.wait(1 + turn % 3, (turn - 3) * kPass + kPass / 2, turn * kPass, thread(4),
                 turn == 50 ? wrong : condition(9, "pop"));
  }
  CHECK(locks_of(program.trace()).all.empty());
}

TEST_CASE(
    "transactions that wait for one of two rows, as one that commits lets two go, wait for locks of rows") {
  test::Program program(100 * kPass);
  for (int tid = 1; tid <= 6; ++tid) program.thread(tid, "work");
  for (int turn = 2; turn < 60; ++turn) {
    for (const int row : {0, 1}) {
      const int waiter = 1 + 2 * (turn % 3) + row;
      program.wait(waiter, (turn - 2) * kPass + 100, turn * kPass, thread(1 + 2 * ((turn + 2) % 3)),
                   condition(waiter, "handler::ha_index_read_map"));
    }
  }
  const Trace trace = program.trace();
  const ContendedLocks locks = locks_of(trace);
  REQUIRE(locks.all.size() == 1);
  CHECK(trace.frames[locks.all[0].place].function == "handler::ha_index_read_map");
  CHECK(locks.all[0].evidence == LockEvidence::name);
  CHECK(locks.all[0].waits == 116);
}

TEST_CASE("what several threads wait for in a lock manager is one lock, though it is often let go unseen") {
  // A thread that has waited lets the next one go twice: in between it took the lock without a wait.
  const auto found = [](bool shared) {
    test::Program program(200 * kPass);
    for (int tid = 1; tid <= 4; ++tid) program.thread(tid, "work");
    for (int turn = 2; turn < 90; ++turn) {
      const int waiter = 3 + turn % 2;
      program.wait(waiter, (turn - 2) * kPass + 100, turn * kPass, thread(1 + turn % 2),
                   condition(shared ? 9 : waiter, "PyEval_RestoreThread"));
    }
    return locks_of(program.trace());
  };
  const ContendedLocks one = found(true);
  REQUIRE(one.all.size() == 1);
  CHECK(one.all[0].object != kNoObject);
  CHECK(one.all[0].evidence == LockEvidence::name);
  CHECK(found(false).all.empty());
}
