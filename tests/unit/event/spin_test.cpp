// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/spin.h"

#include <catch2/catch.hpp>
#include <string>

#include "model/validate.h"

namespace offwait {
namespace {

/// A trace in which T spins for H; both live throughout.
struct Spinning {
  Trace trace;
  ActorId t = thread(11);
  ActorId h = thread(12);

  Spinning() { trace.window = {0, 1000}; }
  ActorId thread(std::int32_t tid) {
    Actor actor;
    actor.tid = tid;
    actor.tgid = 1;
    trace.actors.push_back(actor);
    return static_cast<ActorId>(trace.actors.size() - 1);
  }
  SiteId site(const WaitSite& wanted) {
    for (SiteId id = 0; id < trace.sites.size(); ++id) {
      if (trace.sites[id] == wanted) return id;
    }
    trace.sites.push_back(wanted);
    return static_cast<SiteId>(trace.sites.size() - 1);
  }
  void wait(ActorId waiter, ActorId waker, Nanos block, Nanos wake, Nanos run) {
    trace.waits.push_back(
        {site({waiter, waker, WaitClass::futex, kNoStack, kNoStack}), kNoObject, block, wake, run});
  }
  /// The thread's waits as text.
  std::string laid(std::vector<Spin> spins) {
    overlay_spins(trace, std::move(spins), [this](const WaitSite& wanted) { return site(wanted); });
    const Status valid = validate(trace);
    if (!valid.ok()) FAIL(valid.error().message);
    std::string text;
    for (const Wait& wait : trace.waits) {
      const WaitSite& where = trace.sites[wait.site];
      if (where.thread != t) continue;
      text += std::string(to_string(where.wait_class)) + " " + std::to_string(wait.block) + " " +
              std::to_string(wait.wake) + " " + std::to_string(wait.run) +
              (where.waker == h          ? " H;"
               : where.waker == kNoActor ? " -;"
                                         : " other;");
    }
    return text;
  }
};

TEST_CASE("a spin is a wait while the thread runs") {
  Spinning s;
  CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}, {s.t, kNoActor, 300, 400, kNoStack}}) ==
        "spin 100 200 200 H;spin 300 400 400 -;");
}

TEST_CASE("preemptions and waits inside are part of it") {
  Spinning s;
  s.wait(s.t, s.h, 10, 20, 30);
  s.wait(s.t, s.h, 120, 130, 140);
  s.wait(s.t, s.h, 250, 260, 260);
  s.trace.preemptions = {{s.t, 110, 115}, {s.t, 150, 160}, {s.t, 210, 220}};
  CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}) ==
        "futex 10 20 30 H;spin 100 200 200 H;futex 250 260 260 H;");
  REQUIRE(s.trace.preemptions.size() == 1);
  CHECK(s.trace.preemptions[0].out == 210);
}

TEST_CASE("what goes on after the end of a spin stays") {
  Spinning s;
  SECTION("a wait for the wake that follows") {
    s.trace.preemptions = {{s.t, 110, 115}};
    s.wait(s.t, s.h, 120, 205, 210);
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}) == "futex 100 205 210 H;");
    CHECK(s.trace.preemptions.empty());
  }
  SECTION("runnable after a preemption") {
    s.trace.preemptions = {{s.t, 150, 250}};
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}) == "spin 100 200 250 H;");
    CHECK(s.trace.preemptions.empty());
  }
  SECTION("runnable after a wake") {
    s.wait(s.t, kNoActor, 150, 190, 230);
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}) == "spin 100 200 230 H;");
  }
}

TEST_CASE("a spin is cut where it cannot have been one") {
  Spinning s;
  SECTION("after the last waking that the thread did") {
    s.wait(s.h, s.t, 90, 130, 130);
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}) == "spin 130 200 200 H;");
  }
  SECTION("when the other one blocked") {
    s.wait(s.h, kNoActor, 170, 300, 300);
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}) == "spin 100 170 170 H;");
  }
  SECTION("when the other one began to spin itself") {
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}, {s.h, s.t, 180, 290, kNoStack}}) == "spin 100 180 180 H;");
  }
  SECTION("it is removed if the other thread was blocked all the time") {
    s.wait(s.h, kNoActor, 70, 300, 300);
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}).empty());
  }
  SECTION("it is removed if records were lost") {
    s.trace.gaps = {{s.t, 150, 160}};
    CHECK(s.laid({{s.t, s.h, 100, 200, kNoStack}}).empty());
  }
}

}  // namespace
}  // namespace offwait
