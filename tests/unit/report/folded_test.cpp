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
  trace.waits = {{0, 0, 1'000'000, 4'000'000, 4'000'000},
                 {1, 0, 1'000'000, 3'000'400, 3'000'400},
                 {2, 0, 0, 400, 400},
                 {3, 0, 9'000'000, kNever, kNever}};
  trace.cpu_samples = {{0, 2, 500}, {0, 2, 600}, {1, kNoStack, 600}, {2, 2, 700}, {0, 2, 10'000'000}};
  return trace;
}

std::string folded(const FoldedOptions& options) {
  const Result<std::string> result = to_folded(small_trace(), options);
  return result.ok() ? *result : result.error().message;
}

}  // namespace

TEST_CASE("Where the target's threads waited, root first, in microseconds") {
  CHECK(folded({FoldedKind::off_cpu}) ==
        "A 1000\n"
        "A;work;___pthread_cond_wait;futex_do_wait 3000\n"
        "B_2;work;futex_do_wait 2000\n");
}

TEST_CASE("By weight: with what waited behind it") {
  CHECK(folded({FoldedKind::off_cpu, FoldedWeight::weight}) ==
        "A 1000\n"
        "A;work;___pthread_cond_wait;futex_do_wait 3000\n"
        "B_2;work;futex_do_wait 4001\n");
}

TEST_CASE("And for whom, and where that one woke them, leaf first") {
  CHECK(folded({FoldedKind::off_wake}) ==
        "A;--;[nobody seen] 1000\n"
        "A;work;___pthread_cond_wait;futex_do_wait;--;pthread_cond_signal;evil:frame\\x0a_7;B_2 3000\n"
        "B_2;work;futex_do_wait;--;disk vda 2000\n");
}

TEST_CASE("Where they ran, by samples") {
  CHECK(folded({FoldedKind::on_cpu}) ==
        "A;work;futex_do_wait 2\n"
        "B_2 1\n");
}

TEST_CASE("With all frames") {
  FoldedOptions options;
  options.noise = StackNoise::kept;
  CHECK(folded(options) ==
        "A 1000\n"
        "A;start_thread;work;___pthread_cond_wait;do_syscall_64;futex_do_wait 3000\n"
        "B_2;work;futex_do_wait 2000\n");
}

TEST_CASE("No name is a name here, and what cannot be analysed is an error") {
  Trace trace = small_trace();
  trace.actors[0].name = "";
  const Result<std::string> nameless = to_folded(trace, {FoldedKind::on_cpu});
  REQUIRE(nameless.ok());
  CHECK(*nameless == "B_2 1\n[no name];work;futex_do_wait 2\n");
  trace.window.end = kNever;
  CHECK_FALSE(to_folded(trace, {}).ok());
}
