// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/event_stream.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "replay/shared_events.h"
#include "unit/graph/traces.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

std::string shown(const Trace& trace) {
  static constexpr const char* kNames[] = {"born", "wake", "run", "block", "preempted"};
  std::string out;
  const Histories histories(trace);
  EventStream events(trace, histories);
  while (const std::optional<Event> event = events.next()) {
    out += std::to_string(event->at / 1000) + " " + std::to_string(trace.actors[event->thread].tid) + " " +
           kNames[static_cast<int>(event->what)] + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("events come in order of time, wakes before blocks") {
  test::Program program(100);
  program.thread(1, "a");
  program.thread(2, "b", "start=20000 exit=-");
  program.wait_and_queue(1, 10, 40, 50, "thread:2");
  program.wait_and_queue(2, 40, 60, 60, "thread:1");
  program.line("preempt 1 out=70000 run=80000");
  program.line("preempt 2 out=90000 run=-");
  CHECK(shown(program.trace()) ==
        "0 1 born\n10 1 block\n20 2 born\n40 1 wake\n40 2 block\n50 1 run\n60 2 wake\n60 2 run\n"
        "70 1 preempted\n80 1 run\n90 2 preempted\n");
}

TEST_CASE("what is outside of the window is cut off") {
  test::Program program(0);
  program.text = "offwait-waits 1\nwindow 100000 200000\n";
  program.thread(1, "a");
  program.thread(2, "gone", "start=0 exit=50000");
  program.thread(3, "born_after", "start=250000 exit=-");
  program.wait(1, 20, 50, "timer");
  program.wait_and_queue(1, 60, 120, 130, "timer");
  program.wait(1, 190, 210, "timer");
  CHECK(shown(program.trace()) ==
        "100 1 born\n100 1 block\n100 1 wake\n100 1 run\n100 1 block\n120 1 wake\n130 1 run\n190 1 block\n");
}

TEST_CASE("random histories come in order, each thread's own order kept") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Trace trace = test::random_history(seed);
    const Histories histories(trace);
    EventStream events(trace, histories);
    std::vector<Event> last(trace.actors.size());
    Nanos at = 0;
    std::size_t blocks = 0;
    while (const std::optional<Event> event = events.next()) {
      REQUIRE(event->at >= at);
      at = event->at;
      blocks += event->what == Event::What::block ? 1U : 0U;
      if (event->what == Event::What::wake) {
        CHECK(last[event->thread].what == Event::What::block);
        CHECK(last[event->thread].wait == event->wait);
      }
      last[event->thread] = *event;
    }
    const auto seen = std::count_if(trace.waits.begin(), trace.waits.end(), [&trace](const Wait& wait) {
      const Actor& actor = trace.actors[trace.sites[wait.site].thread];
      return wait.block < trace.window.end && actor.exit > trace.window.begin;
    });
    CHECK(blocks == static_cast<std::size_t>(seen));
  }
}

TEST_CASE("readers of shared events get all of them, at the same time or one after the other") {
  test::Program program(4'000'000);
  for (int tid = 1; tid <= 2; ++tid) program.thread(tid, "work");
  for (long at = 0; at < 4'000'000; at += 15) {
    program.wait(1 + static_cast<int>(at / 15 % 2), at + 3, at + 12, "timer");
  }
  const Trace trace = program.trace();
  const Histories histories(trace);
  const auto all_of = [](auto&& events) {
    std::vector<Nanos> out;
    while (const std::optional<Event> event = events.next()) out.push_back(event->at + event->thread);
    return out;
  };
  const std::vector<Nanos> all = all_of(EventStream(trace, histories));
  REQUIRE(all.size() > 750'000);  // more than are kept
  SharedEvents shared(trace, histories);
  std::vector<Nanos> other;
  std::thread reads([&] { other = all_of(SharedEvents::Reader(shared)); });
  const std::vector<Nanos> one = all_of(SharedEvents::Reader(shared));
  reads.join();
  CHECK(one == all);
  CHECK(other == all);
  SharedEvents::Reader late(shared);
  CHECK(all_of(late) == all);
  CHECK(!late.next());
}

TEST_CASE("who stops reading keeps no other reader of shared events waiting") {
  test::Program program(4'000'000);
  program.thread(1, "work");
  for (long at = 0; at < 4'000'000; at += 15) program.wait(1, at + 3, at + 12, "timer");
  const Trace trace = program.trace();
  const Histories histories(trace);
  SharedEvents shared(trace, histories);
  {
    SharedEvents::Reader stops(shared);
    REQUIRE(stops.next());
  }
  SharedEvents::Reader reads(shared);
  std::size_t events = 0;
  while (reads.next()) ++events;
  CHECK(events > 750'000);
}
