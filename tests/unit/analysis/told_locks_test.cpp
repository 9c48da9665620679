// SPDX-License-Identifier: GPL-2.0-or-later
// What is a lock, on the first screen and in the table of locks alike.
#include <algorithm>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "analysis/analyse.h"
#include "analysis/views.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

constexpr int kThreads = 4;
constexpr long kTurn = 1000;
constexpr int kTurns = 200;

std::string thread(int tid) { return "thread:" + std::to_string(tid); }

std::string waits_in(const std::string& functions) {
  return "class=futex object=0 stack=futex_wait;--;" + functions +
         ";work;main waker_stack=futex_wake;--;leave";
}

test::Program program_of_four() {
  test::Program program(kTurns * kTurn);
  for (int tid = 1; tid <= kThreads; ++tid) program.thread(tid, "worker");
  program.line("object 0 kind=futex tgid=1 address=4096");
  return program;
}

Findings found(const test::Program& program) {
  AnalysisOptions options;
  options.views = true;
  Result<Findings> findings = analyse(program.trace(), options);
  REQUIRE(findings);
  return std::move(findings).value();
}

/// Four threads let each other go, one at a time, as they do at a lock.
Findings in_turns(const std::string& functions) {
  test::Program program = program_of_four();
  for (int turn = kThreads; turn < kTurns; ++turn) {
    const long begin = (turn - kThreads + 1) * kTurn + kTurn / 2;
    program.wait(1 + turn % kThreads, begin, turn * kTurn, thread(1 + (turn + kThreads - 1) % kThreads),
                 waits_in(functions));
  }
  return found(program);
}

/// The thread that comes last lets all others go.
Findings all_at_once(const std::string& functions) {
  test::Program program = program_of_four();
  for (int turn = 1; turn < kTurns / kThreads; ++turn) {
    const int last = 1 + turn % kThreads;
    const long at = turn * kThreads * kTurn;
    for (int tid = 1; tid <= kThreads; ++tid) {
      if (tid != last) program.wait(tid, at - tid * kTurn / 2, at, thread(last), waits_in(functions));
    }
  }
  return found(program);
}

/// What both places say of the one thing that threads wait for.
struct BothSay {
  bool answered = false;  ///< an answer is about a lock
  LockKind kind = LockKind::queue;
  std::optional<LockEvidence> evidence;
};

BothSay both_say(const Findings& findings) {
  BothSay out;
  out.answered = std::any_of(findings.answers.begin(), findings.answers.end(),
                             [](const FoundAnswer& answer) { return answer.lock.has_value(); });
  REQUIRE(findings.views.locks.rows.size() == 1);
  out.kind = findings.views.locks.rows[0].kind;
  out.evidence = findings.views.locks.rows[0].evidence;
  for (const FoundAnswer& answer : findings.answers) {
    if (answer.lock) CHECK(answer.lock->evidence == out.evidence);
  }
  return out;
}

}  // namespace

TEST_CASE("locks of libraries are locks on the first screen and in the table") {
  struct Case {
    const char* functions;
    LockKind kind;
  };
  for (const Case& of : std::initializer_list<Case>{
           {"__pthread_mutex_lock", LockKind::mutex},
           {"absl::lts_20230802::Mutex::Block;absl::lts_20230802::Mutex::LockSlow", LockKind::mutex},
           {"srw_mutex_impl<true>::wait_and_lock()", LockKind::mutex},
           {"ssux_lock_impl<true>::wr_wait(unsigned%20int)", LockKind::rwlock},
           {"parking_lot_core::parking_lot::park;parking_lot::raw_mutex::RawMutex::lock_slow",
            LockKind::mutex},
           {"std::shared_mutex::lock()", LockKind::rwlock},
           {"std::sys::sync::mutex::futex::Mutex::lock_contended", LockKind::mutex}}) {
    INFO(of.functions);
    const Findings findings = in_turns(of.functions);
    const BothSay here = both_say(findings);
    CHECK(here.answered);
    CHECK(to_string(here.kind) == to_string(of.kind));
    CHECK(here.evidence == LockEvidence::name);
    CHECK(findings.views.locks.rows[0].name == "lock of work");
  }
}

TEST_CASE("a home-made lock is known by its behaviour, in both places") {
  const BothSay here = both_say(in_turns("Spot::claim"));
  CHECK(here.answered);
  CHECK(here.kind == LockKind::lock);
  CHECK(here.evidence == LockEvidence::behaviour);
  // Its functions do not name it, and neither does what lets all waiters go.
  const BothSay gate = both_say(all_at_once("Spot::claim"));
  CHECK_FALSE(gate.answered);
  CHECK(gate.kind == LockKind::queue);
  CHECK_FALSE(gate.evidence);
}

TEST_CASE("latches, barriers, joins and conditions are no locks in either place") {
  struct Case {
    const char* functions;
    LockKind kind;
  };
  for (const Case& of : std::initializer_list<Case>{
           {"std::latch::wait()%20const", LockKind::barrier},
           {"std::barrier<std::__empty_completion>::arrive_and_wait()", LockKind::barrier},
           {"__pthread_barrier_wait", LockKind::barrier},
           {"std::sys::sync::condvar::futex::Condvar::wait;std::sync::barrier::Barrier::wait",
            LockKind::barrier},
           {"__pthread_clockjoin_ex", LockKind::join},
           {"__pthread_cond_wait", LockKind::condition}}) {
    INFO(of.functions);
    const BothSay here = both_say(all_at_once(of.functions));
    CHECK_FALSE(here.answered);
    CHECK(to_string(here.kind) == to_string(of.kind));
    CHECK_FALSE(here.evidence);
  }
}

TEST_CASE("what names call a latch, a barrier or a join is no lock even if threads leave it one by one") {
  for (const char* const functions :
       {"std::latch::wait()%20const", "__pthread_barrier_wait", "std::thread::join()"}) {
    INFO(functions);
    const BothSay here = both_say(in_turns(functions));
    CHECK_FALSE(here.answered);
    CHECK_FALSE(here.evidence);
  }
}
