// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/flight_triggers.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/syscall.h>

#include "unit/event/recordings.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::RecordingByHand;

constexpr Nanos kMs = 1'000'000;
constexpr Nanos kBegin = 100 * kSecond;

FlightTrigger longer_than(Nanos time, std::optional<WaitClass> wait_class = std::nullopt) {
  FlightTrigger trigger;
  trigger.text = "wait";
  trigger.longer_than = time;
  trigger.wait_class = wait_class;
  return trigger;
}

FlightTrigger share_of(TriggerState state, double share) {
  FlightTrigger trigger;
  trigger.text = "share";
  trigger.state = state;
  trigger.share = share;
  return trigger;
}

std::uint64_t moment(Nanos since_begin) { return static_cast<std::uint64_t>(kBegin + since_begin); }

/// A wait of thread 11 that took 600 ms.
offwait_wait wait_in(std::int16_t syscall) {
  offwait_wait wait = test::wait_of(11, moment(0), moment(600 * kMs), moment(601 * kMs), kTimer);
  wait.syscall = syscall;
  return wait;
}

/// Whether the trigger applies to this wait of a thread of the target.
bool fires(const FlightTrigger& trigger, const offwait_wait& wait) {
  RecordingByHand part(kBegin, kBegin + kSecond);
  part.seen(11, 500, moment(0));
  part.append(wait);
  FlightTriggers triggers({trigger}, kBegin);
  triggers.add(part.recording.records);
  return triggers.check(part.recording, true) != nullptr;
}

TEST_CASE("a wait for what works or what somebody has counts, and one of an idle thread does not") {
  const FlightTrigger any = longer_than(500 * kMs);
  CHECK(!fires(any, wait_in(SYS_epoll_pwait)));
  CHECK(!fires(any, wait_in(SYS_clock_nanosleep)));
  CHECK(!fires(any, wait_in(SYS_futex)));  // a condition variable, as far as anybody knows
  offwait_wait held = wait_in(SYS_futex);
  held.owner = 12;
  CHECK(fires(any, held));
  CHECK(!fires(longer_than(700 * kMs), held));
  offwait_wait disk = wait_in(SYS_pread64);
  disk.flags = OFFWAIT_WAIT_IOWAIT;
  disk.fd_kind = OFFWAIT_FD_FILE;
  CHECK(fires(any, disk));
  disk.syscall = SYS_io_getevents;  // a thread that takes what is done
  CHECK(!fires(any, disk));
  offwait_wait lock = wait_in(SYS_write);
  lock.task_state = 2;
  CHECK(fires(any, lock));
  offwait_wait socket = wait_in(SYS_recvfrom);
  socket.fd_kind = OFFWAIT_FD_SOCKET;
  CHECK(!fires(any, socket));
  CHECK(fires(longer_than(500 * kMs, WaitClass::net), socket));
  CHECK(fires(longer_than(500 * kMs, WaitClass::futex), wait_in(SYS_futex)));
  CHECK(!fires(longer_than(500 * kMs, WaitClass::poll), wait_in(SYS_futex)));
}

TEST_CASE("only waits of the target count") {
  RecordingByHand part(kBegin, kBegin + kSecond);
  part.seen_outside(11, 500, moment(0));
  part.append(wait_in(SYS_futex));
  FlightTriggers triggers({longer_than(kMs, WaitClass::futex)}, kBegin);
  triggers.add(part.recording.records);
  CHECK(triggers.check(part.recording, true) == nullptr);
}

TEST_CASE("a wait that goes on is told once, and not again when it ends") {
  FlightTriggers triggers({longer_than(500 * kMs, WaitClass::futex)}, kBegin);
  RecordingByHand part(kBegin, kBegin);
  part.seen(11, 500, moment(0));
  triggers.add(part.recording.records);
  part.recording.records = {};
  part.left(11, 500, OFFWAIT_STATE_BLOCKED, moment(kSecond));
  const auto check = [&](Nanos now, bool may_fire = true) {
    part.recording.window.end = kBegin + now;
    return triggers.check(part.recording, may_fire) != nullptr;
  };
  CHECK(!check(kSecond + 400 * kMs));
  CHECK(!check(kSecond + 600 * kMs, false));  // within the cooldown
  CHECK(check(kSecond + 700 * kMs));
  CHECK(!check(2 * kSecond));
  CHECK(!check(100 * kSecond));
  part.wait(11, moment(kSecond), moment(101 * kSecond), moment(101 * kSecond), kTimer);
  triggers.add(part.recording.records);
  part.recording.threads.clear();
  CHECK(!check(101 * kSecond));
  part.recording.records = {};
  part.wait(11, moment(102 * kSecond), moment(103 * kSecond), moment(103 * kSecond), kTimer);
  triggers.add(part.recording.records);
  CHECK(check(104 * kSecond));  // another wait
}

TEST_CASE("a wait that began before the recording is as old as that") {
  FlightTriggers triggers({longer_than(2 * kSecond, WaitClass::futex)}, kBegin);
  RecordingByHand part(kBegin, kBegin);
  part.left(11, 500, OFFWAIT_STATE_UNKNOWN, 0).seeded = OFFWAIT_STATE_BLOCKED;
  part.recording.window.end = kBegin + kSecond;
  CHECK(triggers.check(part.recording, true) == nullptr);
  part.recording.window.end = kBegin + 3 * kSecond;
  CHECK(triggers.check(part.recording, true) != nullptr);
}

/// Says whether the trigger applies after `seconds`, in each of which thread 11 waits for the timer, then is
/// runnable, and then runs. Thread 12 is blocked throughout.
bool exceeds(const FlightTrigger& trigger, Nanos blocked, Nanos runnable, int seconds = 6) {
  FlightTriggers triggers({trigger}, kBegin);
  RecordingByHand part(kBegin, kBegin + seconds * kSecond);
  part.seen(11, 500, moment(0));
  part.seen(12, 500, moment(0));
  for (int i = 0; i < seconds; ++i) {
    const Nanos second = i * kSecond;
    part.wait(11, moment(second), moment(second + blocked), moment(second + blocked + runnable), kTimer);
  }
  part.left(11, 500, OFFWAIT_STATE_RUNNING, moment((seconds - 1) * kSecond + blocked + runnable));
  part.left(12, 500, OFFWAIT_STATE_UNKNOWN, 0).seeded = OFFWAIT_STATE_BLOCKED;
  triggers.add(part.recording.records);
  return triggers.check(part.recording, true) != nullptr;
}

TEST_CASE("the share of runnable time is that of the time in which threads could run") {
  CHECK(exceeds(share_of(TriggerState::runnable, 0.5), 900 * kMs, 60 * kMs));
  CHECK(!exceeds(share_of(TriggerState::runnable, 0.7), 900 * kMs, 60 * kMs));
  CHECK(!exceeds(share_of(TriggerState::runnable, 0.5), 900 * kMs, 40 * kMs));
  CHECK(!exceeds(share_of(TriggerState::runnable, 0.5), 900 * kMs, 60 * kMs, 4));  // too early to tell
}

TEST_CASE("the shares of running and blocked time are those of all time") {
  // Thread 11 is blocked for 60 % and runs for 30 %, thread 12 is blocked.
  CHECK(exceeds(share_of(TriggerState::blocked, 0.79), 600 * kMs, 100 * kMs));
  CHECK(!exceeds(share_of(TriggerState::blocked, 0.81), 600 * kMs, 100 * kMs));
  CHECK(exceeds(share_of(TriggerState::running, 0.14), 600 * kMs, 100 * kMs));
  CHECK(!exceeds(share_of(TriggerState::running, 0.16), 600 * kMs, 100 * kMs));
}

TEST_CASE("threads that wait for a CPU all the time exceed any share") {
  FlightTriggers triggers({share_of(TriggerState::runnable, 0.99)}, kBegin);
  RecordingByHand part(kBegin, kBegin + 6 * kSecond);
  part.left(11, 500, OFFWAIT_STATE_RUNNABLE, moment(0));
  CHECK(triggers.check(part.recording, true) != nullptr);
}

}  // namespace
}  // namespace offwait
