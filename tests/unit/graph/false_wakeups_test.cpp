// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/false_wakeups.h"

#include <catch2/catch.hpp>

#include "graph/sweep.h"
#include "model/validate.h"
#include "traces.h"

namespace offwait {
namespace {

using test::swept;
using test::TraceByHand;

constexpr Nanos kUs = 1000;
constexpr ObjectId kCondition = 0;
constexpr ObjectId kLock = 1;

/// A waiter W and its waker A, times in µs; the wait before the wakeup in question and the one after it.
struct Herd {
  TraceByHand t{Nanos{10'000} * kUs};
  ActorId w = t.thread("W");
  ActorId a = t.thread("A");

  Herd() {
    t.trace.objects.resize(2);
    t.trace.objects[kCondition].hash = 0xc0;
    t.trace.objects[kLock].hash = 0x10;
  }
  void wait(ActorId thread, ActorId waker, Nanos block, Nanos wake, Nanos run, ObjectId futex) {
    t.wait(thread, waker, block * kUs, wake * kUs, run * kUs);
    t.trace.waits.back().object = futex;
  }
  std::vector<FalseWakeup> found() const {
    const Status valid = validate(t.trace);
    if (!valid.ok()) FAIL(valid.error().message);
    return find_false_wakeups(t.trace);
  }
};

TEST_CASE("the two waits around a false wakeup are one, ended by what ended the last") {
  Herd h;
  const ActorId b = h.t.thread("B");
  h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
  h.wait(h.w, b, 1015, 3000, 3010, kCondition);
  CHECK(h.found() == std::vector<FalseWakeup>{{0, 1, 10 * kUs}});

  const Sweep before = swept(h.t.trace);
  CHECK(before.actors[h.w].running_ns == (100 + 10 + 6990) * kUs);
  CHECK(before.actors[h.w].runnable_ns == 15 * kUs);
  CHECK(before.actors[h.w].blocked_ns == (900 + 1985) * kUs);

  const Trace without = without_false_wakeups(h.t.trace, h.found());
  REQUIRE(without.waits.size() == 1);
  CHECK(without.waits[0].block == 100 * kUs);
  CHECK(without.waits[0].wake == 3000 * kUs);
  CHECK(without.waits[0].run == 3010 * kUs);
  CHECK(without.sites[without.waits[0].site].waker == b);
  const Sweep after = swept(without);
  CHECK(after.sites[h.t.trace.waits[0].site].waits == 0);
  CHECK(after.sites[h.t.trace.waits[1].site].wait_ns == 2900 * kUs);
  CHECK(after.actors[h.w].running_ns == (100 + 6990) * kUs);
  CHECK(after.actors[h.w].runnable_ns == 10 * kUs);
  CHECK(after.actors[h.w].blocked_ns == 2900 * kUs);
  CHECK(after.actors[h.w].lifetime_ns == 10'000 * kUs);
}

TEST_CASE("a wait of no time, whose waker may sleep by then, ends no longer wait") {
  Herd h;
  const ActorId b = h.t.thread("B");
  h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
  h.wait(h.w, b, 1015, 1015, 1015, kCondition);
  h.wait(b, h.a, 1012, 5000, 5010, kLock);
  REQUIRE(sweep(h.t.trace).ok());
  CHECK(h.found().empty());
  CHECK(sweep(without_false_wakeups(h.t.trace, h.found())).ok());

  h.wait(h.w, h.a, 1020, 6000, 6010, kCondition);
  std::swap(h.t.trace.waits[2], h.t.trace.waits[3]);
  CHECK(h.found() == std::vector<FalseWakeup>{{0, 2, 15 * kUs}});
  CHECK(sweep(without_false_wakeups(h.t.trace, h.found())).ok());
}

TEST_CASE("several false wakeups in a row, the last wait still open") {
  Herd h;
  h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
  h.wait(h.w, h.a, 1010, 2000, 2005, kCondition);
  h.t.trace.preemptions.push_back({h.w, 2006 * kUs, 2008 * kUs});
  h.t.trace.waits.push_back({test::intern(h.t.trace, {h.w, kNoActor, WaitClass::futex, kNoStack, kNoStack}),
                             kCondition, 2010 * kUs, kNever, kNever});
  CHECK(h.found() == std::vector<FalseWakeup>{{0, 1, 5 * kUs}, {1, 2, 3 * kUs}});
  const Trace without = without_false_wakeups(h.t.trace, h.found());
  REQUIRE(without.waits.size() == 1);
  CHECK(without.waits[0].block == 100 * kUs);
  CHECK(without.waits[0].wake == kNever);
  CHECK(without.preemptions.empty());
  const Sweep after = swept(without);
  CHECK(after.actors[h.w].running_ns == 100 * kUs);
  CHECK(after.actors[h.w].runnable_ns == 0);
  CHECK(after.actors[h.w].blocked_ns == 9900 * kUs);
}

TEST_CASE("a wakeup is not false") {
  Herd h;
  const ActorId x = h.t.thread("X");
  const ActorId timer = h.t.device(ActorKind::timer, "");
  const auto again = [&](Nanos block, ObjectId futex) { h.wait(h.w, h.a, block, 3000, 3010, futex); };
  SECTION("when the thread ran for longer") {
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    again(1056, kCondition);
  }
  SECTION("when it waits elsewhere") {
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    again(1010, kLock);
  }
  SECTION("when it is not known which futex it was") {
    h.wait(h.w, h.a, 100, 1000, 1005, kNoObject);
    again(1010, 0);
  }
  SECTION("when it waits at another place") {
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    h.t.in(WaitClass::futex, h.t.stack("elsewhere"));
    again(1010, kCondition);
  }
  SECTION("when a timeout ended the wait") {
    h.wait(h.w, timer, 100, 1000, 1005, kCondition);
    again(1010, kCondition);
  }
  SECTION("when the thread is busy all the time with short jobs") {
    h.wait(h.w, h.a, 100, 190, 190, kCondition);
    h.wait(h.w, h.a, 230, 290, 290, kCondition);
  }
  SECTION("when it woke another thread") {
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    again(1010, kCondition);
    h.wait(x, h.w, 50, 1008, 1009, kLock);
  }
  SECTION("when it issued I/O") {
    const ActorId disk = h.t.device(ActorKind::disk, "vda");
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    again(1010, kCondition);
    h.t.trace.disk_ios.push_back({h.w, disk, 1007 * kUs, 1500 * kUs, 512});
  }
  SECTION("when it made a thread") {
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    again(1010, kCondition);
    const ActorId made = h.t.thread("made");
    h.t.trace.actors[made].start = 1007 * kUs;
    h.t.trace.actors[made].parent = h.w;
  }
  SECTION("when it waited for something else than a lock in between") {
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    h.t.in(WaitClass::pipe);
    h.wait(h.w, h.a, 1006, 1008, 1008, kNoObject);
    h.t.in(WaitClass::futex);
    again(1010, kCondition);
  }
  SECTION("when records were lost in between") {
    h.wait(h.w, h.a, 100, 1000, 1005, kCondition);
    h.t.trace.gaps.push_back({h.w, 1006 * kUs, 1007 * kUs});
    again(1010, kCondition);
  }
  CHECK(h.found().empty());
}

// The paper's example of tickets: all threads are woken at once and take the lock that guards the ticket, one
// by one.
TEST_CASE("a herd that hands the lock on: only the one that went on was woken") {
  Herd h;
  const ActorId x = h.t.thread("X");
  const ActorId y = h.t.thread("Y");
  h.wait(h.w, h.a, 100, 1000, 1000, kCondition);
  h.wait(h.w, h.a, 1002, 1010, 1012, kLock);  // A holds the lock for a while
  h.wait(h.w, h.a, 1020, 5000, 5000, kCondition);
  h.wait(x, h.a, 100, 1001, 1001, kCondition);
  h.wait(x, h.w, 1003, 1018, 1019, kLock);  // W found nothing, and hands the lock on
  const auto next_of = [&](Nanos at) {
    return find_false_wakeups(h.t.trace).size() == static_cast<std::size_t>(at);
  };

  SECTION("to one that finds nothing either") {
    h.wait(x, h.a, 1024, 5001, 5001, kCondition);
    CHECK(h.found() == std::vector<FalseWakeup>{{0, 2, 10 * kUs}, {3, 5, 7 * kUs}});
    const Sweep after = swept(without_false_wakeups(h.t.trace, h.found()));
    CHECK(after.actors[h.w].blocked_ns == 4900 * kUs);
    CHECK(after.actors[x].blocked_ns == 4901 * kUs);
    CHECK(after.actors[x].running_ns == (100 + 4999) * kUs);
  }
  SECTION("to the one that goes on, which has waited for W") { CHECK(next_of(0)); }
  SECTION("to a chain of threads, of which each depends on the last") {
    h.wait(x, h.a, 1024, 5001, 5001, kCondition);
    h.wait(y, h.a, 100, 1001, 1002, kCondition);
    h.wait(y, x, 1004, 1023, 1024, kLock);
    CHECK(next_of(0));
    h.wait(y, h.a, 1030, 5002, 5002, kCondition);
    CHECK(next_of(3));
  }
}

TEST_CASE("a wakeup that the program declares false is false, unless the thread woke another one") {
  Herd h;
  const ActorId x = h.t.thread("X");
  h.wait(h.w, h.a, 100, 1000, 1005, kNoObject);
  h.t.in(WaitClass::poll);
  h.wait(h.w, x, 1505, 3000, 3010, kNoObject);
  CHECK(h.found().empty());
  h.t.trace.false_marks.push_back({h.w, 1500 * kUs});
  SECTION("however long it ran and wherever it waits again") {
    CHECK(h.found() == std::vector<FalseWakeup>{{0, 1, 500 * kUs}});
    CHECK(swept(without_false_wakeups(h.t.trace, h.found())).actors[h.w].blocked_ns == 2900 * kUs);
  }
  SECTION("but not") {
    h.wait(x, h.w, 1, 1200, 1200, kNoObject);
    CHECK(h.found().empty());
  }
}

TEST_CASE("random histories with false wakeups in them can still be swept") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Trace trace = test::random_history(seed);
    trace.objects.resize(2);
    trace.objects[0].hash = 1;
    trace.objects[1].hash = 2;
    for (Wait& wait : trace.waits) {
      if (trace.sites[wait.site].wait_class == WaitClass::futex) wait.object = wait.site % 2;
    }
    const std::vector<FalseWakeup> found = find_false_wakeups(trace);
    const Trace without = without_false_wakeups(trace, found);
    const Sweep sums = swept(without);
    for (const ActorTime& time : sums.actors) {
      CHECK(time.running_ns + time.runnable_ns + time.blocked_ns + time.unknown_ns == time.lifetime_ns);
    }
    CHECK(find_false_wakeups(trace) == found);
  }
}

}  // namespace
}  // namespace offwait
