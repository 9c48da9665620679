// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/folded.h"

#include <catch2/catch.hpp>

#include "stacks.h"

using namespace offwait;

namespace {

/// Two threads of the target, one outside, a disk; A waits for B, who waits for the disk meanwhile.
Trace small_trace() {
  Trace trace;
  trace.window = {0, 10'000'000};
  Actor a, b, other, disk;
  a.name = "A";
  b.name = "B 2";
  other.name = "other";
  other.outside = true;
  disk.kind = ActorKind::disk;
  disk.name = "vda";
  trace.actors = {a, b, other, disk};
  trace.frames = frames({"futex_do_wait+0x1 ([kernel])", "do_syscall_64+0x2 ([kernel])",
                         "___pthread_cond_wait+0x3 (libc.so.6)", "work(int)+0x4 (app) at a.c:5",
                         "start_thread+0x5 (libc.so.6)", "pthread_cond_signal+0x6 (libc.so.6)",
                         "evil;frame\n 7+0x8 (app)"});
  trace.stacks = {{{0, 1, 2, 3, 4}}, {{5, 6, 4}}, {{0, 3}}};
  trace.sites = {{0, 1, WaitClass::futex, 0, 1},
                 {1, 3, WaitClass::disk, 2, kNoStack},
                 {2, 1, WaitClass::futex, 0, 1},
                 {0, kNoActor, WaitClass::futex, kNoStack, kNoStack}};
  trace.waits = {{0, kNoObject, 1'000'000, 4'000'000, 4'000'000},
                 {1, kNoObject, 1'000'000, 3'000'400, 3'000'400},
                 {2, kNoObject, 0, 400, 400},
                 {3, kNoObject, 9'000'000, kNever, kNever}};
  trace.cpu_samples = {{0, 2, 500}, {0, 2, 600}, {1, kNoStack, 600}, {2, 2, 700}, {0, 2, 10'000'000}};
  return trace;
}

std::string folded(const StackSumOptions& options, StackNoise noise = StackNoise::folded) {
  const Result<StackSums> sums = stack_sums(small_trace(), options);
  return sums.ok() ? to_folded(*sums, noise) : sums.error().message;
}

}  // namespace

TEST_CASE("Where the target's threads waited, root first, in microseconds") {
  CHECK(folded({StackKind::off_cpu}) ==
        "A 1000\n"
        "A;work;___pthread_cond_wait;futex_do_wait 3000\n"
        "B_2;work;futex_do_wait 2000\n");
}

TEST_CASE("By weight: with what waited behind it") {
  CHECK(folded({StackKind::off_cpu, StackMeasure::weight}) ==
        "A 1000\n"
        "A;work;___pthread_cond_wait;futex_do_wait 3000\n"
        "B_2;work;futex_do_wait 4001\n");
}

TEST_CASE("And for whom, and where that one woke them, leaf first") {
  CHECK(folded({StackKind::off_wake}) ==
        "A;--;[nobody seen] 1000\n"
        "A;work;___pthread_cond_wait;futex_do_wait;--;pthread_cond_signal;evil:frame\\x0a_7;B_2 3000\n"
        "B_2;work;futex_do_wait;--;disk vda 2000\n");
}

TEST_CASE("Where they ran, by samples") {
  CHECK(folded({StackKind::on_cpu}) ==
        "A;work;futex_do_wait 2\n"
        "B_2 1\n");
}

TEST_CASE("With all frames") {
  CHECK(folded({}, StackNoise::kept) ==
        "A 1000\n"
        "A;start_thread;work;___pthread_cond_wait;do_syscall_64;futex_do_wait 3000\n"
        "B_2;work;futex_do_wait 2000\n");
}

TEST_CASE("No name is a name here") {
  StackSums sums;
  sums.kind = StackKind::off_wake;
  sums.sums = {{"", kNoStack, StackWaker{ActorKind::thread, ""}, kNoStack, 7'000},
               {"A", kNoStack, StackWaker{ActorKind::timer, ""}, kNoStack, 5'000}};
  CHECK(to_folded(sums) == "A;--;timer 5\n[no name];--;[no name] 7\n");
}

TEST_CASE("What reads the same is one line, rounded once") {
  StackSums sums;
  sums.frames = frames({"work+0x1 (app) at a.c:5", "work+0x9 (app) at a.c:7", "other+0x1 (app)"});
  sums.stacks = {{{0}}, {{1}}, {{2}}};
  sums.sums = {{"A", 0, {}, kNoStack, 400}, {"A", 1, {}, kNoStack, 400}, {"A", 2, {}, kNoStack, 499}};
  CHECK(to_folded(sums) == "A;work 1\n");
  sums.kind = StackKind::on_cpu;
  CHECK(to_folded(sums) == "A;other 499\nA;work 800\n");
}
