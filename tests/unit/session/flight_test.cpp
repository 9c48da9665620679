// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/flight.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event/assemble.h"
#include "unit/event/recordings.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::lines;
using test::RecordingByHand;
using Lines = std::vector<std::string>;

constexpr Nanos kLength = 300;

/// A flight of 300 ns whose parts are 100 ns long; the recording begins at 1000.
class FlightByHand {
 public:
  explicit FlightByHand(std::size_t bytes = SIZE_MAX) : flight(1000, {kLength, bytes}) {}

  /// Adds the next part, which has what `fill` writes.
  void part(const std::function<void(RecordingByHand&)>& fill, bool has_counters = true) {
    RecordingByHand part(1000, end += 100);
    fill(part);
    CHECK(part.appended);
    flight.add(part.recording, has_counters);
  }
  void empty_parts(int count) {
    for (int i = 0; i < count; ++i) part([](RecordingByHand&) {});
  }

  /// The whole of what is written with these tables.
  KernelRecording taken(KernelRecording tables = {}) {
    tables.window = {1000, end};
    std::vector<RecordingPart> parts = flight.take(std::move(tables));
    KernelRecording whole = std::move(parts.back().kernel);
    CHECK(parts.back().has_tables);
    parts.pop_back();
    for (const RecordingPart& one : parts) {
      CHECK(!one.has_tables);
      one.kernel.records.for_each(
          [&whole](const auto& record) { CHECK(whole.records.append(test::bytes_of(record))); });
      for (const auto& [id, file] : one.kernel.files) whole.files.insert_or_assign(id, file);
      for (const auto& counters : one.kernel.disk_counters) whole.disk_counters.push_back(counters);
      for (const AddressSpace& space : one.mappings) mappings.push_back(space.tgid);
    }
    return whole;
  }
  Lines trace(KernelRecording tables = {}) { return lines(assemble(taken(std::move(tables)), {})); }

  Flight flight;
  Nanos end = 1000;
  std::vector<std::int32_t> mappings;
};

TEST_CASE("a flight that is shortened forgets what is older than that") {
  FlightByHand by_hand;
  by_hand.part([](auto& part) { part.seen(11, 500, 1000, "t"); });
  by_hand.empty_parts(2);
  CHECK(by_hand.flight.window().begin == 1000);
  by_hand.flight.shorten(100);
  CHECK(by_hand.flight.window().begin == 1200);
  CHECK(by_hand.flight.window().end == 1300);
  CHECK_FALSE(by_hand.flight.is_whole());
}

TEST_CASE("a flight has the waits of its window, and threads by the names that they have") {
  FlightByHand by_hand;
  by_hand.part([](auto& part) {
    part.seen(11, 500, 1000, "old");
    part.seen(12, 600, 1000, "short");
    part.wait(11, 1010, 1020, 1030, kTimer);
  });
  by_hand.part([](auto& part) {
    part.named(11, 1110, "worker");
    part.born(13, 1120, "child", 11);
    part.exited(12, 1150);
  });
  by_hand.empty_parts(2);
  by_hand.part([](auto& part) {
    part.wait(13, 1130, 1450, 1460, by_thread(11));
    part.wait(11, 1410, 1420, 1430, kTimer);
  });
  CHECK(by_hand.flight.window().begin == 1200);
  CHECK(by_hand.flight.window().end == 1500);
  CHECK(!by_hand.flight.is_whole());
  const Exited exited = by_hand.flight.take_exited();
  REQUIRE(exited.threads.size() == 1);
  CHECK(exited.threads.front().tid == 12);
  CHECK(exited.processes.empty());  // 11 and 13 live
  KernelRecording tables;
  tables.threads = {{11, offwait_thread{}}, {13, offwait_thread{}}};
  tables.threads[0].second.start_ns = 500;
  tables.threads[0].second.state = OFFWAIT_STATE_BLOCKED;
  tables.threads[0].second.since_ns = 1480;
  tables.threads[0].second.target = 1;
  tables.threads[1].second.start_ns = 1120;
  tables.threads[1].second.state = OFFWAIT_STATE_RUNNING;
  CHECK(by_hand.trace(std::move(tables)) ==
        Lines{"thread 10/11 worker [500,-) seen 1200", "thread 10/13 child [1120,-) seen 1200 child of 11",
              "timer", "wait 13@1120 [1130,1450,1460) futex <- thread 11@500",
              "wait 11@500 [1410,1420,1430) futex <- timer", "wait 11@500 [1480,-,-) other <- -"});
}

TEST_CASE("a flight that is longer than the recording is all of it") {
  FlightByHand by_hand;
  by_hand.part([](auto& part) { part.seen(11, 500, 1000); });
  by_hand.part([](auto& part) { part.wait(11, 1110, 1120, 1130, kTimer); });
  CHECK(by_hand.flight.is_whole());
  CHECK(by_hand.flight.window().begin == 1000);
  CHECK(by_hand.trace().size() == 4);  // the thread, its wait, the timer, and a gap since nobody knows it now
}

TEST_CASE("what counters counted before the window is not counted") {
  FlightByHand by_hand;
  const auto counted = [](std::uint64_t number) {
    KernelRecording counts;
    const auto ns = static_cast<Nanos>(number);
    counts.loss = {{"ringbuf_full", number}, {"stack_collision", 2}};
    counts.stack_reuse = {number, 10 * number, number, 0};
    counts.cost = {3 * ns, 2 * ns, 0.03, 0, 0};
    counts.cpu_busy_ns = 7 * ns;
    counts.cpu_times = {{3, 4 * ns, 5 * ns}};
    counts.cpu_quotas = {{"/a", 10, 100, number, number, 6 * ns}};
    counts.memory = {{"/a", true, 1000, 900, number, 4096 * number, number}};
    counts.responses = {
        {{500, 11, 80}, {number, number / 2, 1001, 1000 + number, 0, 0, 10 * number, 3 * number}},
        {{600, 12, 80}, {4, 1, 1, 1, 0, 0, 0, 0}}};
    counts.calls = {{{500, 11, 0}, {3 * number, 1001, 1000 + number}}};
    return counts;
  };
  const auto count = [&counted](std::uint64_t number) {
    return [&counted, number](RecordingByHand& part) {
      const Window window = part.recording.window;
      part.recording = counted(number);
      part.recording.window = window;
    };
  };
  by_hand.part(count(10));
  by_hand.part(count(20));
  by_hand.part(count(30));
  by_hand.part(count(40));
  KernelRecording tables = counted(100);
  tables.responses.push_back({{700, 13, 80}, {5, 1, 1390, 1395, 0, 0, 0, 0}});
  const KernelRecording whole = by_hand.taken(std::move(tables));
  CHECK(whole.window.begin == 1100);  // where the first part ended
  CHECK(whole.loss == LossCounts{{"ringbuf_full", 90}, {"stack_collision", 0}});
  CHECK(whole.stack_reuse.walked == 90);
  CHECK(whole.stack_reuse.recalled == 900);
  CHECK(whole.cost == RecordingCost{270, 180, 0.03, 0, 0});
  CHECK(whole.cpu_busy_ns == 630);
  REQUIRE(whole.cpu_times.size() == 1);
  CHECK(whole.cpu_times[0].busy_ns == 360);
  CHECK(whole.cpu_times[0].idle_ns == 450);
  REQUIRE(whole.cpu_quotas.size() == 1);
  CHECK(whole.cpu_quotas[0].periods == 90);
  CHECK(whole.cpu_quotas[0].throttled_ns == 540);
  REQUIRE(whole.memory.size() == 1);
  CHECK(whole.memory[0].used_bytes == 900);
  CHECK(whole.memory[0].refault_bytes == 4096 * 90);
  REQUIRE(whole.responses.size() == 2);  // not that of thread 12, which did not respond any more
  CHECK(whole.responses[0].second.count == 90);
  CHECK(whole.responses[0].second.connections == 45);
  CHECK(whole.responses[0].second.under_way_ns == 900);
  CHECK(whole.responses[0].second.unread_jiffies == 270);
  CHECK(whole.responses[1].second.count == 5);
  REQUIRE(whole.calls.size() == 1);
  CHECK(whole.calls[0].second.count == 270);
}

TEST_CASE("the window begins where something was counted") {
  FlightByHand by_hand;
  for (int i = 0; i < 8; ++i) by_hand.part([](RecordingByHand&) {}, i % 2 == 1);
  CHECK(by_hand.flight.window().end == 1800);
  CHECK(by_hand.flight.window().begin == 1400);  // 1500 was not counted
}

TEST_CASE("files and the last counters of disks from before the window are kept") {
  FlightByHand by_hand;
  by_hand.part([](auto& part) {
    part.recording.files[7] = {0, 0, 1, 2, 3, "/old"};
    part.recording.files[8] = {0, 0, 1, 3, 3, "/renamed"};
    part.recording.disk_counters = {{1, 1010, 10, 1, 0}, {2, 1010, 10, 1, 0}, {1, 1090, 20, 2, 0}};
  });
  by_hand.part([](auto& part) { part.recording.files[8] = {0, 0, 1, 3, 3, "/new"}; });
  by_hand.empty_parts(3);
  by_hand.part([](auto& part) { part.recording.disk_counters = {{1, 1590, 30, 3, 0}}; });
  const KernelRecording whole = by_hand.taken();
  CHECK(whole.files.at(7).path == "/old");
  CHECK(whole.files.at(8).path == "/new");
  Lines counters;
  for (const KernelDiskCounters& one : whole.disk_counters)
    counters.push_back(std::to_string(one.dev) + " at " + std::to_string(one.at));
  CHECK(counters == Lines{"2 at 1010", "1 at 1090", "1 at 1590"});
}

TEST_CASE("memory is bounded: the flight is shorter then, and says so") {
  constexpr std::size_t kMost = 20'000;
  FlightByHand by_hand(kMost);
  const auto many = [](RecordingByHand& part) {
    for (std::uint64_t i = 0; i < 1000; ++i) part.wait(11, 1000 + i, 1001 + i, 1002 + i, kTimer);
  };
  by_hand.part(many);
  CHECK(!by_hand.flight.is_cut());
  for (int i = 0; i < 5; ++i) by_hand.part(many);
  CHECK(by_hand.flight.bytes() <= kMost);
  CHECK(by_hand.flight.bytes() > kMost / 4);
  CHECK(by_hand.flight.is_cut());
  CHECK(by_hand.flight.window().begin > by_hand.flight.window().end - kLength);
  by_hand.empty_parts(4);
  CHECK(!by_hand.flight.is_cut());  // the last 300 ns are all there again
}

TEST_CASE("weeks of forks leave nothing behind") {
  FlightByHand by_hand;
  by_hand.flight.add_mappings({{4000, {}}, {20, {}}});
  by_hand.part([](auto& part) { part.seen(10, 1, 1000, "server"); });
  std::size_t threads = 0;
  std::size_t processes = 0;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    by_hand.part([i](auto& part) {
      const auto at = static_cast<std::uint64_t>(part.recording.window.end - 50);
      offwait_thread_record record{};
      record.type = OFFWAIT_RECORD_THREAD;
      record.event = OFFWAIT_THREAD_BORN;
      record.tid = record.tgid = 4000 + i % 7;  // numbers are used again
      record.start_ns = record.at_ns = at;
      part.append(record);
      record.event = OFFWAIT_THREAD_EXITED;
      record.at_ns = at + 10;
      part.append(record);
      part.recording.threads.emplace_back(10, offwait_thread{});
      part.recording.threads.back().second.start_ns = 1;
    });
    const Exited exited = by_hand.flight.take_exited();
    threads += exited.threads.size();
    processes += exited.processes.size();
  }
  CHECK(threads == 2997);                      // but for those of the window
  CHECK(processes == 2997);                    // a number that is used again has no process in between
  CHECK(by_hand.trace().size() == 1 + 3 + 1);  // the server, three children, and a gap of the server
  CHECK(by_hand.mappings == std::vector<std::int32_t>{20});
}

TEST_CASE("a thread whose exit was lost is forgotten once the window has passed") {
  FlightByHand by_hand;
  by_hand.part([](auto& part) { part.seen(11, 500, 1000); });
  by_hand.empty_parts(4);  // the kernel does not know the thread
  CHECK(by_hand.flight.take_exited().threads.empty());
  by_hand.empty_parts(6);
  const Exited exited = by_hand.flight.take_exited();
  REQUIRE(exited.threads.size() == 1);
  CHECK(exited.threads[0].tid == 11);
  CHECK(exited.processes == std::vector<std::int32_t>{10});
  CHECK(by_hand.trace().empty());
}

TEST_CASE("the stacks of a flight are those that its records refer to") {
  FlightByHand by_hand;
  const auto stacks = [](std::uint32_t id) {
    return [id](RecordingByHand& part) {
      offwait_wait wait = test::wait_of(11, 1010, 1020, 1030, kTimer);
      wait.wait_user = id;
      wait.waker_kernel = id + 1;
      part.append(wait);
      part.append(offwait_sample{OFFWAIT_RECORD_SAMPLE, {}, 11, 1040, id + 2, id + 3, 0, 0, 0});
    };
  };
  by_hand.part(stacks(10));
  for (const std::uint32_t id : {20U, 30U, 40U}) by_hand.part(stacks(id));
  CHECK(by_hand.flight.stacks() ==
        std::set<std::uint32_t>{0, 20, 21, 22, 23, 30, 31, 32, 33, 40, 41, 42, 43});
}

}  // namespace
}  // namespace offwait
