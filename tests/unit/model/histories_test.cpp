// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/histories.h"

#include <catch2/catch.hpp>
#include <string>

namespace offwait {
namespace {

/// Two threads, [0, never) and [100, 500), and a site of each.
Trace two_threads() {
  Trace trace;
  trace.window = {0, 1000};
  trace.actors.resize(2);
  trace.actors[1].start = 100;
  trace.actors[1].exit = 500;
  trace.sites.resize(2);
  trace.sites[0].thread = 0;
  trace.sites[1].thread = 1;
  return trace;
}

/// `wait 0 [10, 20)` and the like, one after the other.
std::string walked(const Trace& trace, ActorId thread) {
  const Histories histories(trace);
  History rest = histories.of(thread);
  std::string text;
  while (const std::optional<Interval> next = take_next(trace, rest)) {
    text += next->kind == Interval::Kind::wait ? "w" : next->kind == Interval::Kind::gap ? "g" : "p";
    text += std::to_string(next->index) + "[" + std::to_string(next->from) + "," + std::to_string(next->to) +
            ") ";
  }
  return text;
}

TEST_CASE("the intervals of a thread come in order of time, whatever their kind") {
  Trace trace = two_threads();
  trace.waits = {{0, kNoObject, 10, 15, 20}, {1, kNoObject, 110, 120, 130}, {0, kNoObject, 40, 50, 60}};
  trace.preemptions = {{1, 140, 150}, {0, 20, 25}};
  trace.gaps = {{0, 25, 40}, {0, 60, 70}};
  CHECK(walked(trace, 0) == "w0[10,20) p1[20,25) g0[25,40) w2[40,60) g1[60,70) ");
  CHECK(walked(trace, 1) == "w1[110,130) p0[140,150) ");
}

TEST_CASE("if two intervals begin together the shorter one comes first") {
  Trace trace = two_threads();
  trace.waits = {{0, kNoObject, 10, 20, 20}};
  trace.gaps = {{0, 10, 10}};
  CHECK(walked(trace, 0) == "g0[10,10) w0[10,20) ");
  CHECK_FALSE(find_order_fault(trace));
}

TEST_CASE("the waits that begin before a time are counted") {
  Trace trace = two_threads();
  trace.waits = {{0, kNoObject, 10, 20, 25},
                 {1, kNoObject, 100, 110, 110},
                 {0, kNoObject, 30, 30, 30},
                 {0, kNoObject, 30, 40, 45}};
  const Histories histories(trace);
  const auto begun = [&](ActorId thread, Nanos time) {
    return begun_before(trace, histories.of(thread).waits, time);
  };
  CHECK(begun(0, 10) == 0);
  CHECK(begun(0, 11) == 1);
  CHECK(begun(0, 30) == 1);
  CHECK(begun(0, 31) == 3);
  CHECK(begun(0, kNever) == 3);
  CHECK(begun(1, 101) == 1);
  CHECK(begun_before(trace, {}, 100) == 0);
}

TEST_CASE("intervals that touch each other and the ends of the lifetime are in order") {
  Trace trace = two_threads();
  trace.waits = {{1, kNoObject, 100, 200, 300}, {1, kNoObject, 400, 450, 500}};
  trace.preemptions = {{1, 300, 400}};
  trace.gaps = {{1, 500, 500}};
  CHECK_FALSE(find_order_fault(trace));
}

TEST_CASE("an interval without an end may reach past the exit") {
  Trace trace = two_threads();
  trace.waits = {{1, kNoObject, 400, kNever, kNever}};
  CHECK_FALSE(find_order_fault(trace));
}

TEST_CASE("the first interval that does not fit is found, and why") {
  Trace trace = two_threads();
  trace.waits = {{0, kNoObject, 10, 20, 30}, {1, kNoObject, 200, 250, 300}};
  SECTION("an overlap") {
    trace.preemptions = {{1, 290, 310}};
    const std::optional<OrderFault> fault = find_order_fault(trace);
    REQUIRE(fault);
    CHECK(fault->kind == OrderFault::Kind::overlap);
    CHECK(fault->thread == 1);
    CHECK(fault->interval.kind == Interval::Kind::preemption);
    CHECK(fault->interval.index == 0);
    CHECK(fault->previous.kind == Interval::Kind::wait);
    CHECK(fault->previous.index == 1);
  }
  SECTION("a begin before the birth") {
    trace.gaps = {{1, 99, 110}};
    const std::optional<OrderFault> fault = find_order_fault(trace);
    REQUIRE(fault);
    CHECK(fault->kind == OrderFault::Kind::before_birth);
    CHECK(fault->interval.from == 99);
  }
  SECTION("an end after the exit") {
    trace.gaps = {{1, 499, 501}};
    const std::optional<OrderFault> fault = find_order_fault(trace);
    REQUIRE(fault);
    CHECK(fault->kind == OrderFault::Kind::after_exit);
    CHECK(fault->interval.to == 501);
  }
  SECTION("a begin after the exit") {
    trace.gaps = {{1, 501, kNever}};
    const std::optional<OrderFault> fault = find_order_fault(trace);
    REQUIRE(fault);
    CHECK(fault->kind == OrderFault::Kind::after_exit);
  }
}

}  // namespace
}  // namespace offwait
