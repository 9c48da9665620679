// SPDX-License-Identifier: GPL-2.0-or-later
// The lock of CPython's interpreter, which threads wait for in time-outs of 5 ms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replay/answers.h"
#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

/// Threads that only compute take the interpreter's lock in turns. A thread that waits looks every 5 ms; the
/// first one to see that nobody else got it meanwhile asks for it, and the one that has it lets it go. Now
/// and then (once in `every` times) a thread that looks at that moment is faster than the one that is woken.
Trace computing(int threads, int every = 3) {
  const std::string in_loop = "class=futex object=1 stack=f;--;pthread_cond_timedwait;take;eval;main";
  const std::string in_call = "class=futex object=1 stack=f;--;pthread_cond_timedwait;take;restore;eval;main";
  const std::string mutex = "class=futex object=2 stack=f;--;__pthread_mutex_cond_lock;take;eval;main";
  const std::string switched = "class=futex object=3 stack=f;--;pthread_cond_wait;drop;eval;main";
  constexpr long kEnd = 2'000'000;
  test::Program program(kEnd, 2);
  for (int id = 1; id <= 3; ++id) {
    program.line("object " + std::to_string(id) + " kind=futex tgid=1 address=" + std::to_string(64 * id));
  }
  struct Waiter {
    int tid;
    long since;
    bool unchanged;  // nobody got it since the wait began
  };
  std::vector<Waiter> waiters;
  for (int tid = 1; tid <= threads; ++tid) {
    program.thread(tid, "python3");
    if (tid > 1) waiters.push_back({tid, tid * 400, true});
  }
  const auto thread = [](int tid) { return "thread:" + std::to_string(tid); };
  int holder = 1;
  int turn = 0;
  while (true) {
    const auto next = std::min_element(waiters.begin(), waiters.end(),
                                       [](const Waiter& a, const Waiter& b) { return a.since < b.since; });
    const long at = next->since + 5000;
    if (at + 1000 > kEnd) return program.trace();
    program.wait(next->tid, next->since, at, "timer", next->tid % 2 == 0 ? in_loop : in_call);
    const bool asks = next->unchanged;
    next->since = at + 20;
    next->unchanged = true;
    if (!asks) continue;
    const long free = at + 60;
    // The one that has waited longest for a signal gets it; or one that looks just then.
    ++turn;
    const auto first = std::min_element(waiters.begin(), waiters.end(),
                                        [&](const Waiter& a, const Waiter& b) { return a.since < b.since; });
    const Waiter got = *first;
    const bool looked = turn % every == 0 && got.since + 10 < free;
    program.wait(got.tid, got.since, free, looked ? "timer" : thread(holder), in_loop);
    if (!looked) program.wait(got.tid, free + 3, free + 10, thread(holder), mutex);
    program.wait(holder, free + 20, free + 40, thread(got.tid), switched);
    waiters.erase(first);
    for (Waiter& waiter : waiters) waiter.unchanged = false;
    waiters.push_back({holder, free + 50, true});
    holder = got.tid;
  }
}

}  // namespace

TEST_CASE("threads that only compute wait for the interpreter's lock, and sleep never") {
  for (const int threads : {2, 3, 4}) {
    INFO(threads);
    const Trace trace = computing(threads);
    const Answers found = test::answers(trace);
    REQUIRE(found.answers.size() == 2);
    const Answer& lock = found.answers[0];
    CHECK(lock.change.resource == Resource::waited);
    CHECK(lock.gain == Approx(1).margin(0.05));
    REQUIRE(lock.lock);
    if (threads > 2) CHECK(lock.lock->waited.full == Full::cpus);
    CHECK(lock.lock->lock.held_ns >= trace.window.length() / 100 * 95);
    CHECK(found.answers[1].change.resource == Resource::cpu);
    CHECK(found.answers[1].certainty == Certainty::approximate);
  }
}

TEST_CASE("a lock that is seldom found by looking changes hands as time passes, too") {
  const Trace trace = computing(3, 40);
  const Answers found = test::answers(trace);
  REQUIRE(found.answers.size() == 2);
  CHECK(found.answers[0].change.resource == Resource::waited);
  const Answer& work = found.answers[1];
  CHECK(work.change.resource == Resource::cpu);
  CHECK(work.certainty == Certainty::approximate);
  CHECK(work.doubt == Doubt::looked);
  CHECK(work.high >= Approx(0.95));
}
