// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stack_sums.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "trace/frame_text.h"

using namespace offwait;

namespace {

constexpr Nanos kMs = 1'000'000;
constexpr ActorId kFirst = 0, kOther = 1, kOutside = 2, kDisk = 3;
constexpr StackId kWaits = 0, kWakes = 1;

/// Two threads of the target with one name, one thread outside and a disk. The first thread waits for the
/// second, which waits for the disk meanwhile.
Trace small_trace() {
  Trace trace;
  trace.window = {0, 10 * kMs};
  Actor first, second, outside, disk;
  first.name = second.name = "worker";
  outside.name = "other";
  outside.outside = true;
  disk.kind = ActorKind::disk;
  disk.name = "vda";
  trace.actors = {first, second, outside, disk};
  trace.frames = {frame_of_text("wait+0x1 (app)"), frame_of_text("wake+0x1 (app)")};
  trace.stacks = {{{0}}, {{1}}};
  trace.sites = {{kFirst, kOther, WaitClass::futex, kWaits, kWakes},
                 {kOther, kDisk, WaitClass::disk, kWaits, kNoStack},
                 {kOutside, kOther, WaitClass::futex, kWaits, kWakes}};
  trace.waits = {{0, kNoObject, 1 * kMs, 4 * kMs, 4 * kMs},
                 {1, kNoObject, 1 * kMs, 3 * kMs, 3 * kMs},
                 {2, kNoObject, 5 * kMs, 6 * kMs, 6 * kMs}};
  return trace;
}

std::vector<StackSum> sums_of(Trace trace, const StackSumOptions& options) {
  Result<StackSums> result = stack_sums(std::move(trace), options);
  REQUIRE(result.ok());
  CHECK(result->kind == options.kind);
  std::sort(result->sums.begin(), result->sums.end(), [](const StackSum& a, const StackSum& b) {
    return std::tuple(a.thread, a.stack, a.waker_stack, a.amount) <
           std::tuple(b.thread, b.stack, b.waker_stack, b.amount);
  });
  return result->sums;
}

using Sums = std::vector<StackSum>;

}  // namespace

TEST_CASE("threads of one name in one stack have one sum; threads outside of the target have none") {
  CHECK(sums_of(small_trace(), {StackKind::off_cpu}) == Sums{{"worker", kWaits, {}, kNoStack, 5 * kMs}});
}

TEST_CASE("waits for different objects have sums of their own where that is asked, with their weights") {
  Trace trace = small_trace();
  Object lock, file;
  lock.kind = Object::Kind::futex;
  lock.tgid = 1;
  lock.address = 4096;
  lock.module = "/bin/app";
  lock.symbol = "queue_lock";
  file.kind = Object::Kind::file;
  file.device = {8, 1};
  file.inode = 5;
  file.path = "/data/log";
  trace.objects = {lock, file};
  trace.waits[0].object = 0;
  trace.waits[1].object = 1;
  trace.waits.push_back({0, kNoObject, 8 * kMs, 9 * kMs, 9 * kMs});
  StackSumOptions options{StackKind::off_cpu, StackMeasure::weight};
  CHECK(sums_of(trace, options).size() == 1);
  options.objects = true;
  const Sums found = sums_of(trace, options);
  REQUIRE(found.size() == 3);
  CHECK(found[0].amount == 1 * kMs);
  CHECK(found[0].lock.empty());
  CHECK_FALSE(found[0].stored);
  CHECK(found[1].amount == 3 * kMs);
  CHECK(found[1].lock == "queue_lock (app)");
  CHECK(found[2].amount == 4 * kMs);
  REQUIRE(found[2].stored);
  CHECK(found[2].stored->path == "/data/log");
}

TEST_CASE("the weight of a wait includes the time of those behind it") {
  CHECK(sums_of(small_trace(), {StackKind::off_cpu, StackMeasure::weight}) ==
        Sums{{"worker", kWaits, {}, kNoStack, 7 * kMs}});
}

TEST_CASE("off_wake has a sum for each waker and its stack") {
  Trace trace = small_trace();
  trace.sites.push_back({kFirst, kNoActor, WaitClass::futex, kWaits, kNoStack});
  trace.waits.push_back({3, kNoObject, 9 * kMs, kNever, kNever});
  CHECK(sums_of(trace, {StackKind::off_wake}) ==
        Sums{{"worker", kWaits, StackWaker{ActorKind::thread, "worker"}, kWakes, 3 * kMs},
             {"worker", kWaits, {}, kNoStack, 1 * kMs},
             {"worker", kWaits, StackWaker{ActorKind::disk, "vda"}, kNoStack, 2 * kMs}});
}

TEST_CASE("on_cpu counts the samples inside the window") {
  Trace trace = small_trace();
  trace.cpu_samples = {{kFirst, kWaits, 0},
                       {kOther, kWaits, 5 * kMs},
                       {kOther, kNoStack, 5 * kMs},
                       {kOutside, kWaits, 5 * kMs},
                       {kFirst, kWaits, 10 * kMs}};
  CHECK(sums_of(trace, {StackKind::on_cpu}) ==
        Sums{{"worker", kWaits, {}, kNoStack, 2}, {"worker", kNoStack, {}, kNoStack, 1}});
}

TEST_CASE("the time around a false wakeup is waited, unless false wakeups are kept") {
  Trace trace = small_trace();
  trace.sites.resize(1);
  constexpr Nanos kRan = 10'000;
  trace.objects.resize(1);
  trace.objects[0].hash = 7;
  trace.waits = {{0, 0, 1 * kMs, 2 * kMs, 2 * kMs}, {0, 0, 2 * kMs + kRan, 4 * kMs, 4 * kMs}};
  CHECK(sums_of(trace, {}) == Sums{{"worker", kWaits, {}, kNoStack, 3 * kMs}});
  StackSumOptions kept;
  kept.keep_false_wakeups = true;
  CHECK(sums_of(trace, kept) == Sums{{"worker", kWaits, {}, kNoStack, 3 * kMs - kRan}});
}

TEST_CASE("frames and stacks are the trace's, without stand-ins for short-lived threads") {
  Trace trace = small_trace();
  for (Nanos birth = 1; birth <= 4; ++birth) {
    Actor child;
    child.name = "child";
    child.tgid = 5;
    child.tid = static_cast<std::int32_t>(10 + birth);
    child.parent = kFirst;
    child.start = child.seen = birth * 2 * kMs - kMs;
    child.exit = child.start + kMs;
    trace.actors.push_back(child);
  }
  const Result<StackSums> result = stack_sums(trace, {});
  REQUIRE(result.ok());
  CHECK(result->frames == trace.frames);
  CHECK(result->stacks == trace.stacks);
  CHECK(result->sums == Sums{{"worker", kWaits, {}, kNoStack, 5 * kMs}});
}

TEST_CASE("sums of waits in a window without length are an error") {
  Trace trace = small_trace();
  trace.window.end = 0;
  CHECK_FALSE(stack_sums(trace, {StackKind::off_wake}).ok());
  CHECK(stack_sums(trace, {StackKind::off_cpu}).error().message == "the recording's window is empty");
}
