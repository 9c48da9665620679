// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/cut.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "model/validate.h"

namespace offwait {
namespace {

Actor thread(std::int32_t tid, Nanos start, Nanos exit) {
  Actor actor;
  actor.tid = tid;
  actor.tgid = 1;
  actor.start = start;
  actor.exit = exit;
  actor.seen = std::max<Nanos>(start, 0);
  return actor;
}

/// Thread 1 waits [0,100), [200,300) and [400,500) for thread 2, each time runnable for 10. Thread 3 lives in
/// [0,150), and is the parent of 2.
Trace three_waits() {
  Trace trace;
  trace.window = {0, 1000};
  trace.actors = {thread(3, 0, 150), thread(1, 0, kNever), thread(2, 0, 900)};
  trace.actors[2].parent = 0;
  WaitSite site;
  site.thread = 1;
  site.waker = 2;
  trace.sites = {site};
  for (const Nanos at : {0, 200, 400}) trace.waits.push_back({0, kNoObject, at, at + 100, at + 110});
  trace.preemptions = {{2, 20, 30}, {2, 220, 230}, {2, 420, kNever}};
  trace.cpu_samples = {{1, kNoStack, 150}, {1, kNoStack, 350}, {1, kNoStack, 550}};
  trace.responses = {{1, 80, "", 100, 10, 0, 1000}};
  trace.calls = {{1, "f", 7, 100, 100}};
  trace.recording.cpu_busy_ns = 1000;
  trace.recording.command = 1;
  trace.memory = {{"/a", true, 100, 90, 50, 4000, 20}};
  return trace;
}

Trace part(Nanos begin, Nanos end) {
  Trace cut = cut_to(three_waits(), {begin, end});
  const Status valid = validate(cut);
  INFO((valid.ok() ? "" : valid.error().message));
  CHECK(valid.ok());
  CHECK(cut.window.begin == begin);
  CHECK(cut.window.end == end);
  return cut;
}

TEST_CASE("of what was counted in the window, a part has its share") {
  const Trace cut = part(200, 300);
  REQUIRE(cut.memory.size() == 1);
  CHECK(cut.memory[0].limit_bytes == 100);
  CHECK(cut.memory[0].used_bytes == 90);
  CHECK(cut.memory[0].reached == 5);
  CHECK(cut.memory[0].refault_bytes == 400);
  CHECK(cut.memory[0].swap_bytes == 2);
}

TEST_CASE("a part has what happened in it") {
  const Trace cut = part(210, 380);
  REQUIRE(cut.waits.size() == 1);
  CHECK(cut.waits[0].block == 200);
  CHECK(cut.waits[0].run == 310);
  REQUIRE(cut.preemptions.size() == 1);
  CHECK(cut.preemptions[0].out == 220);
  REQUIRE(cut.cpu_samples.size() == 1);
  CHECK(cut.cpu_samples[0].at == 350);
  // The thread that was gone before is gone, and who refers to threads means the same ones.
  REQUIRE(cut.actors.size() == 2);
  CHECK(cut.actors[0].tid == 1);
  CHECK(cut.actors[1].tid == 2);
  CHECK(cut.actors[1].parent == kNoActor);
  CHECK(cut.actors[1].exit == kNever);
  CHECK(cut.actors[cut.sites[cut.waits[0].site].waker].tid == 2);
  CHECK(cut.actors[cut.preemptions[0].thread].tid == 2);
  CHECK(cut.recording.command == 0);
}

TEST_CASE("a wait that goes on at the end is open, and nobody is known to end it") {
  const Trace cut = part(0, 250);
  REQUIRE(cut.waits.size() == 2);
  CHECK(cut.waits[0].wake == 100);
  CHECK(cut.waits[1].block == 200);
  CHECK(cut.waits[1].wake == kNever);
  CHECK(cut.waits[1].run == kNever);
  CHECK(cut.sites[cut.waits[0].site].waker != kNoActor);
  CHECK(cut.sites[cut.waits[1].site].waker == kNoActor);
  CHECK(cut.actors.size() == 3);
  CHECK(cut.recording.command == 1);
}

TEST_CASE("a narrowed trace has the same numbers") {
  const Trace part = narrowed_to(three_waits(), {160, 450});
  CHECK((part.window.begin == 160 && part.window.end == 450));
  REQUIRE(part.actors.size() == 3);
  CHECK((part.actors[0].tid == 3 && part.actors[2].parent == 0));
  REQUIRE(part.waits.size() == 2);
  CHECK((part.waits[0].block == 200 && part.waits[0].wake == 300));
  CHECK((part.waits[1].block == 400 && part.waits[1].wake == kNever));
  REQUIRE(part.responses.size() == 1);
  CHECK(part.responses[0].count == 29);
}

TEST_CASE("a thread that was woken and has not run stays runnable") {
  const Trace cut = part(0, 305);
  REQUIRE(cut.waits.size() == 2);
  CHECK(cut.waits[1].wake == 300);
  CHECK(cut.waits[1].run == 310);
}

TEST_CASE("what was counted for the whole is taken as even over it") {
  const Trace cut = part(250, 500);
  REQUIRE(cut.responses.size() == 1);
  CHECK(cut.responses[0].count == 25);
  CHECK(cut.responses[0].connections == 3);
  CHECK(cut.responses[0].first == 250);
  CHECK(cut.responses[0].last == 500);
  CHECK(cut.recording.cpu_busy_ns == 250);
  CHECK(cut.calls.empty());
  CHECK(part(50, 150).calls.at(0).count == 7);
}

TEST_CASE("of counters that are read now and then the nearest outside stay") {
  Trace trace = three_waits();
  Actor disk;
  disk.kind = ActorKind::disk;
  disk.name = "vda";
  trace.actors.push_back(disk);
  for (const Nanos at : {0, 100, 200, 300, 400, 500})
    trace.disk_counters.push_back({3, at, static_cast<std::uint64_t>(at), 1, 0});
  const Trace cut = cut_to(trace, {250, 350});
  REQUIRE(cut.disk_counters.size() == 3);
  CHECK(cut.disk_counters.front().at == 200);
  CHECK(cut.disk_counters.back().at == 400);
  CHECK(cut.actors[cut.disk_counters.front().disk].name == "vda");
}

TEST_CASE("a part in the user's words is a window") {
  const Window whole{1000, 11'000'001'000};
  const auto window = [&whole](const TracePart& part) {
    const Result<Window> found = window_of(part, whole);
    REQUIRE(found.ok());
    return std::pair(found->begin, found->end);
  };
  CHECK(window({}) == std::pair<Nanos, Nanos>(1000, 11'000'001'000));
  CHECK(window({kSecond, 2 * kSecond}) == std::pair<Nanos, Nanos>(1'000'001'000, 2'000'001'000));
  CHECK(window({kSecond, 200 * kSecond}) == std::pair<Nanos, Nanos>(1'000'001'000, 11'000'001'000));
  CHECK(window({.last = kSecond}) == std::pair<Nanos, Nanos>(10'000'001'000, 11'000'001'000));
  CHECK(window({.last = 100 * kSecond}) == std::pair<Nanos, Nanos>(1000, 11'000'001'000));
  const Result<Window> beyond = window_of({.from = 11 * kSecond}, whole);
  REQUIRE_FALSE(beyond.ok());
  CHECK(beyond.error().message == "--window begins at 11.000 s, and the recording lasts 11.000 s");
}

}  // namespace
}  // namespace offwait
