// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/wait_events.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <tuple>
#include <vector>

#include "traces.h"

namespace offwait {
namespace {

using test::TraceByHand;

/// (time, whether a wait begins, thread, wait)
using Row = std::tuple<Nanos, bool, ActorId, std::uint32_t>;

void append(WaitEvents& events, std::vector<Row>& result) {
  for (auto batch = events.next(); !batch.empty(); batch = events.next()) {
    for (const WaitEvent& event : batch) {
      result.emplace_back(event.time(), event.key % 2 == 1, event.thread, event.wait);
    }
  }
}

/// The events of the parts between the cuts, one part after the other. `cuts` are in order.
std::vector<Row> rows(const Trace& trace, std::vector<Nanos> cuts = {}) {
  const Histories histories(trace);
  const std::vector<Nanos> begins = some_begins(trace);
  cuts.push_back(trace.window.end);
  std::vector<Row> result;
  Nanos begin = trace.window.begin;
  for (const Nanos end : cuts) {
    WaitEvents events(trace, histories, begins, {begin, end});
    append(events, result);
    begin = end;
  }
  return result;
}

/// For a trace that needs no clipping and has no empty waits.
std::vector<Row> sorted(const Trace& trace) {
  std::vector<Row> result;
  for (std::uint32_t i = 0; i < trace.waits.size(); ++i) {
    const Wait& wait = trace.waits[i];
    const ActorId thread = trace.sites[wait.site].thread;
    result.emplace_back(wait.block - trace.window.begin, true, thread, i);
    result.emplace_back(wait.wake - trace.window.begin, false, thread, i);
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST_CASE("ends come before begins at one instant, and each in order of thread") {
  TraceByHand t(1000, 100);
  const ActorId a = t.thread("A"), b = t.thread("B"), c = t.thread("C");
  t.wait(c, kNoActor, 150, 200);
  t.wait(b, kNoActor, 150, 200);
  t.wait(a, kNoActor, 200, 300);
  t.wait(b, kNoActor, 200, 300);
  CHECK(rows(t.trace) == std::vector<Row>{{50, true, b, 1},
                                          {50, true, c, 0},
                                          {100, false, b, 1},
                                          {100, false, c, 0},
                                          {100, true, a, 2},
                                          {100, true, b, 3},
                                          {200, false, a, 2},
                                          {200, false, b, 3}});
}

TEST_CASE("waits are clipped, and an empty one only begins") {
  TraceByHand t(1000, 100);
  const ActorId a = t.thread("A"), b = t.thread("B"), c = t.thread("C");
  t.wait(a, kNoActor, 10, 100);
  t.wait(b, kNoActor, 50, 50);
  t.wait(b, kNoActor, 60, 300);
  t.wait(a, kNoActor, 400, 400);
  t.wait(b, kNoActor, 500, kNever);
  t.wait(a, kNoActor, 999, 1001);
  t.wait(c, kNoActor, 600, 1000);
  CHECK(rows(t.trace) == std::vector<Row>{{0, true, b, 2},
                                          {200, false, b, 2},
                                          {300, true, a, 3},
                                          {400, true, b, 4},
                                          {500, true, c, 6},
                                          {899, true, a, 5},
                                          {900, false, c, 6}});
}

TEST_CASE("parts have the same events, and those at a bound belong to the later one") {
  TraceByHand t(1000, 100);
  const ActorId a = t.thread("A"), b = t.thread("B"), c = t.thread("C"), d = t.thread("D");
  t.trace.actors[d].exit = 700;
  t.wait(a, kNoActor, 50, 300);
  t.wait(b, kNoActor, 200, 300);
  t.wait(b, kNoActor, 300, 300);
  t.wait(c, kNoActor, 300, 400);
  t.wait(a, kNoActor, 350, kNever);
  t.wait(b, kNoActor, 900, 1000);
  t.wait(d, kNoActor, 600, kNever);
  const std::vector<Row> whole = rows(t.trace);
  for (const std::vector<Nanos>& cuts : std::vector<std::vector<Nanos>>{
           {300}, {299, 300, 301}, {101, 250, 310, 400, 700, 999}, {200, 201, 350, 351, 600, 701}}) {
    CHECK(rows(t.trace, cuts) == whole);
  }

  const Histories histories(t.trace);
  const auto open_at = [&](Nanos begin) {
    const WaitEvents events(t.trace, histories, {}, {begin, 1000});
    std::vector<ActorId> threads;
    for (const WaitEvents::OpenWait& wait : events.open()) threads.push_back(wait.thread);
    return threads;
  };
  CHECK(open_at(100).empty());
  CHECK(open_at(101) == std::vector{a});
  CHECK(open_at(300) == std::vector{a, b});
  CHECK(open_at(301) == std::vector{c});
  CHECK(open_at(700) == std::vector{a, d});
  CHECK(open_at(701) == std::vector{a});
}

TEST_CASE("a wait that begins at its thread's exit ends there") {
  TraceByHand t(1000);
  const ActorId a = t.thread("A"), b = t.thread("B");
  t.trace.actors[a].exit = 300;
  t.trace.actors[b].exit = 400;
  t.wait(a, kNoActor, 300, kNever);
  t.wait(b, kNoActor, 300, kNever);
  CHECK(rows(t.trace) ==
        std::vector<Row>{{300, true, a, 0}, {300, true, a, 0}, {300, true, b, 1}, {400, false, b, 1}});
}

TEST_CASE("more waits than a batch holds can begin at one instant") {
  TraceByHand t(1000);
  const ActorId a = t.thread("A");
  std::vector<Row> expected;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    t.wait(a, kNoActor, 500, 500);
    expected.emplace_back(500, true, a, i);
  }
  const bool same = rows(t.trace) == expected;
  CHECK(same);
}

TEST_CASE("many waits of unequal density come in batches, in order") {
  TraceByHand t(Nanos{1} << 60, 5);
  constexpr ActorId kThreads = 7;
  std::vector<Nanos> now(kThreads, 6);
  for (ActorId i = 0; i < kThreads; ++i) {
    t.thread();
  }
  std::uint64_t state = 1;
  const auto some = [&state](std::uint64_t most) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<Nanos>((state >> 33) % most);
  };
  for (int i = 0; i < 50'000; ++i) {
    const auto thread = static_cast<ActorId>(some(kThreads));
    const Nanos block = now[thread] + some(i % 20'000 < 15'000 ? 50 : 2'000'000'000);
    now[thread] = block + 1 + some(thread == 0 && i % 100 == 0 ? 1'000'000'000'000 : 40);
    t.wait(thread, kNoActor, block, now[thread]);
  }
  const bool same = rows(t.trace) == sorted(t.trace);
  CHECK(same);
  const Nanos last = *std::max_element(now.begin(), now.end());
  const bool same_in_parts = rows(t.trace, {last / 1000, last / 3, last / 2}) == sorted(t.trace);
  CHECK(same_in_parts);
}

}  // namespace
}  // namespace offwait
