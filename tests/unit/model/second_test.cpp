// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/second.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

/// Thread 11 of the target and 12 outside, each recorded throughout a window of 4 s.
Trace trace_of_4s() {
  Trace trace;
  trace.window = {0, 4 * kSecond};
  trace.recording.cpu_busy_ns = 6 * kSecond;
  trace.recording.cpu_idle_ns = 2 * kSecond;
  for (const std::int32_t tid : {11, 12}) {
    Actor actor;
    actor.name = "t";
    actor.tid = tid;
    actor.outside = tid == 12;
    trace.actors.push_back(actor);
  }
  WaitSite site;
  site.thread = 0;
  site.wait_class = WaitClass::disk;
  trace.sites.push_back(site);
  return trace;
}

std::size_t index_of(WaitClass one) { return static_cast<std::size_t>(one); }

}  // namespace

TEST_CASE("A wait is part of each second that it overlaps, and counts where it ended") {
  Trace trace = trace_of_4s();
  trace.waits.push_back({0, kNoObject, kSecond / 2, 3 * kSecond / 2, 7 * kSecond / 4});
  const Second first = second_of(trace, {0, kSecond});
  const Second second = second_of(trace, {kSecond, 2 * kSecond});
  CHECK(first.threads[0].times.blocked[index_of(WaitClass::disk)] == kSecond / 2);
  CHECK(first.threads[0].times.running() == kSecond / 2);
  CHECK(first.waits == 0);
  CHECK(second.threads[0].times.blocked[index_of(WaitClass::disk)] == kSecond / 2);
  CHECK(second.threads[0].times.runnable == kSecond / 4);
  CHECK(second.threads[0].times.running() == kSecond / 4);
  CHECK(second.waits == 1);
}

TEST_CASE("A wait that is still open counts as blocked up to the end") {
  Trace trace = trace_of_4s();
  trace.waits.push_back({0, kNoObject, kSecond, kNever, kNever});
  const Second last = second_of(trace, {3 * kSecond, 4 * kSecond});
  CHECK(last.threads[0].times.all_blocked() == kSecond);
  CHECK(last.waits == 0);
}

TEST_CASE("Threads have a row while they live, except for the recorder's") {
  Trace trace = trace_of_4s();
  trace.actors[0].exit = kSecond / 4;
  CHECK(second_of(trace, {0, kSecond}).threads[0].times.lived == kSecond / 4);
  CHECK(second_of(trace, {kSecond, 2 * kSecond}).threads.size() == 1);
  trace.actors[1].recorder = true;
  CHECK(second_of(trace, {kSecond, 2 * kSecond}).threads.empty());
}

TEST_CASE("What was counted over the recording is taken as even") {
  Trace trace = trace_of_4s();
  for (const ActorId thread : {0U, 1U}) {
    Responses one;
    one.thread = thread;
    one.port = 80;
    one.count = thread == 0 ? 400 : 4000;
    one.last = 4 * kSecond;
    trace.responses.push_back(one);
  }
  const SecondCounts counts = second_of(trace, {kSecond, 2 * kSecond}).counts;
  CHECK(counts.even);
  CHECK(counts.responses.value_or(0) == Approx(100));
  CHECK_FALSE(counts.calls);
  CHECK(counts.cpu_busy == 3 * kSecond / 2);
  CHECK(counts.cpu_idle == kSecond / 2);
}
