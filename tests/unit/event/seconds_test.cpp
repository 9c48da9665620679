// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/seconds.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "unit/event/recordings.h"

using namespace offwait;
using namespace offwait::test;

namespace {

constexpr std::uint64_t kS = 1'000'000'000;

const ThreadTimes& times_of(const Second& second, std::int32_t tid) {
  const auto found = std::find_if(second.threads.begin(), second.threads.end(),
                                  [tid](const ThreadSecond& one) { return one.tid == tid; });
  REQUIRE(found != second.threads.end());
  return found->times;
}

offwait_thread blocked_since(std::uint64_t start, std::uint64_t since) {
  offwait_thread thread{};
  thread.start_ns = start;
  thread.since_ns = since;
  thread.state = OFFWAIT_STATE_BLOCKED;
  thread.syscall = OFFWAIT_NO_SYSCALL;
  return thread;
}

}  // namespace

TEST_CASE("Blocked, runnable and running time of a thread add up to a second") {
  RecordingByHand part(0, kSecond);
  part.seen(11, 5, 0, "worker-1");
  part.wait(11, kS / 10, 3 * kS / 10, 4 * kS / 10, by_thread(12));
  Seconds seconds(0);
  const std::optional<Second> second = seconds.add(part.recording, true);
  REQUIRE(second);
  const ThreadTimes& times = times_of(*second, 11);
  CHECK(times.lived == kSecond);
  CHECK(times.all_blocked() == kSecond / 5);
  CHECK(times.runnable == kSecond / 10);
  CHECK(times.running() == 7 * kSecond / 10);
  CHECK(times.waits == 1);
  CHECK(second->waits == 1);
  CHECK(second->threads[0].name == "worker-1");
}

TEST_CASE("A second ends with counters, and takes all parts before") {
  RecordingByHand first(0, kSecond / 2);
  first.seen(11, 5, 0);
  first.wait(11, 0, kS / 4, kS / 4, by_thread(12));
  RecordingByHand then(0, kSecond);
  then.wait(11, kS / 2, 3 * kS / 4, 3 * kS / 4, by_thread(12));
  Seconds seconds(0);
  CHECK_FALSE(seconds.add(first.recording, false));
  const std::optional<Second> second = seconds.add(then.recording, true);
  REQUIRE(second);
  CHECK(times_of(*second, 11).all_blocked() == kSecond / 2);
  CHECK(second->waits == 2);
}

TEST_CASE("A wait that is open at the end counts, and once when its record comes") {
  RecordingByHand first(0, kSecond);
  first.seen(11, 5, 0);
  first.recording.threads = {{11, blocked_since(5, kS / 4)}};
  RecordingByHand then(0, 2 * kSecond);
  then.wait(11, kS / 4, 5 * kS / 4, 5 * kS / 4, by_thread(12));
  Seconds seconds(0);
  CHECK(times_of(*seconds.add(first.recording, true), 11).all_blocked() == 3 * kSecond / 4);
  CHECK(times_of(*seconds.add(then.recording, true), 11).all_blocked() == kSecond / 4);
}

TEST_CASE("A record that reaches beyond its part is divided, also where the table has it as open") {
  RecordingByHand first(0, kSecond);
  first.seen(11, 5, 0);
  first.wait(11, kS / 2, 3 * kS / 2, 3 * kS / 2, by_thread(12));
  first.recording.threads = {{11, blocked_since(5, kS / 2)}};
  const RecordingByHand then(0, 2 * kSecond);
  Seconds seconds(0);
  CHECK(times_of(*seconds.add(first.recording, true), 11).all_blocked() == kSecond / 2);
  const std::optional<Second> second = seconds.add(then.recording, true);
  CHECK(times_of(*second, 11).all_blocked() == kSecond / 2);
  CHECK(second->waits == 0);
}

TEST_CASE("A thread whose records are lost does not run meanwhile, as far as is known") {
  RecordingByHand part(0, kSecond);
  part.seen(11, 5, 0);
  offwait_thread open = blocked_since(5, 3 * kS / 4);
  open.lost_since_ns = kS / 4;
  part.recording.threads = {{11, open}};
  Seconds seconds(0);
  const std::optional<Second> second = seconds.add(part.recording, true);
  const ThreadTimes& times = times_of(*second, 11);
  CHECK(times.unknown == kSecond / 2);
  CHECK(times.all_blocked() == kSecond / 4);
  CHECK(times.running() == kSecond / 4);
}

TEST_CASE("Threads have a row from their birth to their exit; the recorder's have none") {
  RecordingByHand part(0, kSecond);
  part.seen(11, 5, 0, "old");
  part.exited(11, kS / 4);
  part.seen(11, 9, kS / 2, "young");
  part.seen_recorder(12, 5, 0);
  Seconds seconds(0);
  const std::optional<Second> second = seconds.add(part.recording, true);
  REQUIRE(second);
  REQUIRE(second->threads.size() == 2);
  CHECK(second->threads[0].name == "old");
  CHECK(second->threads[0].times.lived == kSecond / 4);
  CHECK(second->threads[1].name == "young");
  CHECK(second->threads[1].times.lived == kSecond / 2);
}

TEST_CASE("Counters are differences, of the target's threads") {
  RecordingByHand first(0, kSecond);
  first.seen(11, 5, 0);
  first.seen_outside(12, 5, 0);
  const auto count = [](RecordingByHand& part, std::uint64_t responses, Nanos busy) {
    offwait_responses of_target{};
    offwait_responses of_other{};
    of_target.count = responses;
    of_other.count = 1000;
    part.recording.responses = {{{5, 11, 80}, of_target}, {{5, 12, 80}, of_other}};
    part.recording.cpu_busy_ns = busy;
    part.recording.loss["ringbuf_full"] = responses;
  };
  count(first, 10, kSecond);
  RecordingByHand then(0, 2 * kSecond);
  count(then, 25, 3 * kSecond);
  Seconds seconds(0);
  CHECK(seconds.add(first.recording, true)->counts.responses.value_or(0) == 10);
  const SecondCounts counts = seconds.add(then.recording, true)->counts;
  CHECK(counts.responses.value_or(0) == 15);
  CHECK(counts.cpu_busy == 2 * kSecond);
  CHECK(counts.lost == 15);
  CHECK_FALSE(counts.even);
}
