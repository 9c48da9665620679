// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <sys/syscall.h>

#include "assembled.h"
#include "model/backtrace.h"
#include "offwait/unwind.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::Lines;
using test::only;
using test::RecordingByHand;
using test::trace_of;
using test::two_threads;
using test::wait_of;

struct StoredStack {
  std::uint32_t id;
  std::uint32_t tgid;
  std::vector<std::uint64_t> pcs;
};
struct StackIds {
  std::uint32_t wait_kernel = 0;
  std::uint32_t wait_user = 0;
  std::uint32_t waker_kernel = 0;
  std::uint32_t waker_user = 0;
};

/// The stacks, as text, of one wait with these ids.
std::string stacks_of(const std::vector<StoredStack>& stored, const StackIds& ids) {
  RecordingByHand t = two_threads();
  for (const StoredStack& stack : stored) t.stack(stack.id, stack.tgid, stack.pcs);
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, by_thread(12));
  wait.wait_kernel = ids.wait_kernel;
  wait.wait_user = ids.wait_user;
  wait.waker_kernel = ids.waker_kernel;
  wait.waker_user = ids.waker_user;
  t.append(wait);
  const std::string line = only("wait", trace_of(t)).at(0);
  const std::string head = "wait 11@500 [1100,1200,1200) futex <- thread 12@600";
  REQUIRE(line.rfind(head, 0) == 0);
  return line.substr(head.size());
}

TEST_CASE("kernel and user frames are joined, leaf first, with -- between them if there are both") {
  const std::vector<StoredStack> stored = {{5, 0, {1, 2}}, {6, 10, {3, 4}}};
  CHECK(stacks_of(stored, {}).empty());
  CHECK(stacks_of(stored, {5, 0, 0, 0}) == " stack k1;k2");
  CHECK(stacks_of(stored, {0, 6, 0, 0}) == " stack u10:3;u10:4");
  CHECK(stacks_of(stored, {5, 6, 0, 0}) == " stack k1;k2;--;u10:3;u10:4");
  CHECK(stacks_of(stored, {5, 6, 5, 6}) == " stack k1;k2;--;u10:3;u10:4 waker_stack k1;k2;--;u10:3;u10:4");
  CHECK(stacks_of(stored, {0, 0, 0, 6}) == " waker_stack u10:3;u10:4");
  // The kernel has not kept stack 5.
  CHECK(stacks_of(stored, {5, 7, 0, 0}) == " stack k1;k2");
  CHECK(stacks_of(stored, {7, 8, 0, 0}).empty());
}

TEST_CASE("a sample belongs to the thread that lived then, with kernel and user frames, in the window") {
  RecordingByHand t = two_threads();
  t.recording.sample_hz = 99;
  t.stack(5, 0, {1, 2});
  t.stack(6, 10, {3});
  const auto sample = [&t](std::uint32_t tid, std::uint64_t at, std::uint32_t user, std::uint32_t kernel) {
    t.append(offwait_sample{OFFWAIT_RECORD_SAMPLE, {}, tid, at, user, kernel, 0, 0, 0});
  };
  sample(11, 999, 6, 0);
  sample(11, 1000, 6, 5);
  sample(12, 1500, 6, 0);
  sample(11, 1999, 0, 0);
  sample(11, 2000, 6, 0);
  CHECK(only("on_cpu", trace_of(t)) == Lines{"on_cpu 11@500 1000 stack k1;k2;--;u10:3",
                                             "on_cpu 12@600 1500 stack u10:3", "on_cpu 11@500 1999"});
  CHECK(only("loss", trace_of(t)).empty());
  CHECK(t.trace().recording.sample_hz == 99);
  sample(13, 1500, 6, 0);
  CHECK(only("loss", trace_of(t)) == Lines{"loss record_invalid 1"});
}

TEST_CASE("a sample brings its leaf, which its stack has not") {
  RecordingByHand t = two_threads();
  t.recording.sample_hz = 99;
  t.stack(5, 0, {0, 2});
  t.stack(6, 10, {0, 4});
  t.stack(7, 10, {3, 4});
  const auto sample = [&t](std::uint64_t at, std::uint32_t user, std::uint32_t kernel, std::uint64_t pc,
                           std::uint32_t tgid) {
    t.append(offwait_sample{OFFWAIT_RECORD_SAMPLE, {}, 11, at, user, kernel, pc, tgid, 0});
  };
  sample(1000, 6, 0, 8, 10);
  sample(1100, 6, 0, 9, 10);
  sample(1200, 7, 5, 9, 0);
  CHECK(only("on_cpu", trace_of(t)) == Lines{"on_cpu 11@500 1000 stack u10:8;u10:4",
                                             "on_cpu 11@500 1100 stack u10:9;u10:4",
                                             "on_cpu 11@500 1200 stack k9;k2;--;u10:3;u10:4"});
}

TEST_CASE("a user stack that was cut ends with the reason") {
  const auto stack_with_end = [](offwait_stack_end end, std::uint32_t tgid) {
    RecordingByHand t = two_threads();
    t.stack(6, tgid, {3});
    t.recording.stacks[6].end = static_cast<__u16>(end);
    offwait_wait wait = wait_of(11, 1100, 1200, 1200, kTimer);
    (tgid == 0 ? wait.wait_kernel : wait.wait_user) = 6;
    t.append(wait);
    const Trace trace = t.trace();
    return to_lines(backtrace_of(trace, 0));
  };
  CHECK(stack_with_end(OFFWAIT_STACK_ROOT, 10) == Lines{"u10:3"});
  CHECK(stack_with_end(OFFWAIT_STACK_DEEP, 10) == Lines{"u10:3", "[cut: too deep]"});
  CHECK(stack_with_end(OFFWAIT_STACK_NO_MAPPING, 10) == Lines{"u10:3", "[cut: no mapping]"});
  CHECK(stack_with_end(OFFWAIT_STACK_NO_RULE, 10) == Lines{"u10:3", "[cut: no unwind rule]"});
  CHECK(stack_with_end(OFFWAIT_STACK_NO_FP, 10) == Lines{"u10:3", "[cut: no frame pointer]"});
  CHECK(stack_with_end(OFFWAIT_STACK_UNREADABLE, 10) == Lines{"u10:3", "[cut: stack unreadable]"});
  CHECK(stack_with_end(OFFWAIT_STACK_DEEP, 0) == Lines{"k3"});
}

TEST_CASE(
    "what a thread was found blocked in at the begin is of its first wait, over or not, and of no other") {
  RecordingByHand t(1000, 2000);
  for (const std::uint32_t tid : {11U, 12U, 13U, 14U}) t.seen(tid, 500, 900);
  t.stack(5, 0, {1});
  t.stack(6, 10, {2});
  for (const std::uint32_t tid : {11U, 12U}) t.recording.blocked[{tid, 0}] = {500, 6, 13};
  t.recording.blocked[{14, 0}] = {499, 6, 13};  // belongs to the tid's previous owner
  offwait_wait first = wait_of(11, 0, 1500, 1510, by_thread(13));
  first.wait_kernel = 5;
  t.append(first);
  t.wait(11, 1600, 1700, 1700, by_thread(13));
  t.left(11, 500, OFFWAIT_STATE_RUNNING, 1700);
  t.left(13, 500, OFFWAIT_STATE_RUNNING, 900);
  for (const std::uint32_t tid : {12U, 14U}) {
    offwait_thread& blocked = t.left(tid, 500, OFFWAIT_STATE_UNKNOWN, 0);
    blocked.seeded = OFFWAIT_STATE_BLOCKED;
    blocked.wait_kernel = 5;
    blocked.syscall = SYS_futex;
  }
  CHECK(only("wait", trace_of(t)) ==
        Lines{"wait 11@500 [1000,1500,1510) futex <- thread 13@500 stack k1;--;u10:2 held by 13@500",
              "wait 11@500 [1600,1700,1700) futex <- thread 13@500",
              "wait 12@500 [1000,-,-) futex <- - stack k1;--;u10:2 held by 13@500",
              "wait 14@500 [1000,-,-) futex <- - stack k1"});
}

TEST_CASE("a stack that met an unknown mapping is the one walked later, if it was in the same wait") {
  RecordingByHand t = two_threads();
  t.stack(5, 0, {1});
  t.stack(6, 10, {2});
  t.recording.stacks[6].end = OFFWAIT_STACK_NO_MAPPING;
  t.stack(7, 10, {2, 3});
  t.recording.blocked[{11, 1100}] = {500, 7, 0};
  for (const std::uint64_t block : {1100U, 1300U}) {
    offwait_wait wait = wait_of(11, block, block + 100, block + 100, by_thread(12));
    wait.wait_kernel = 5;
    wait.wait_user = 6;
    t.append(wait);
  }
  CHECK(only("wait", trace_of(t)) ==
        Lines{"wait 11@500 [1100,1200,1200) futex <- thread 12@600 stack k1;--;u10:2;u10:3",
              "wait 11@500 [1300,1400,1400) futex <- thread 12@600 stack k1;--;u10:2;[cut: no mapping]"});
}

TEST_CASE("frames without a name are left out, and -- with them") {
  const std::vector<StoredStack> stored = {{5, 0, {0, 0, 1}}, {6, 10, {0}}, {7, 0, {0}}, {8, 10, {3}}};
  CHECK(stacks_of(stored, {5, 8, 0, 0}) == " stack k1;--;u10:3");
  CHECK(stacks_of(stored, {5, 6, 0, 0}) == " stack k1");
  CHECK(stacks_of(stored, {7, 8, 0, 0}) == " stack u10:3");
  CHECK(stacks_of(stored, {7, 6, 0, 0}).empty());
}

TEST_CASE("stacks of the same names are one stack, frames of the same name one frame") {
  RecordingByHand t = two_threads();
  t.stack(5, 0, {0, 1, 2});
  t.stack(6, 0, {1, 0, 2});
  for (const std::uint32_t id : {5U, 6U}) {
    offwait_wait wait = wait_of(11, 1000 + id * 10, 1001 + id * 10, 1002 + id * 10, by_thread(12));
    wait.wait_kernel = id;
    t.append(wait);
  }
  const Trace trace = t.trace();
  CHECK(trace.sites.size() == 1);
  CHECK(trace.stacks.size() == 1);
  REQUIRE(trace.frames.size() == 2);
  CHECK(trace.frames[0].function == "k1");
  CHECK(trace.frames[1].function == "k2");
}

TEST_CASE("a stack never has more frames than its record has room for") {
  RecordingByHand t = two_threads();
  offwait_stack& stack = t.recording.stacks[5];
  stack.frames = 60'000;
  std::fill(std::begin(stack.pc), std::end(stack.pc), 9);
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, by_thread(12));
  wait.wait_kernel = 5;
  t.append(wait);
  CHECK(t.trace().stacks.at(0).frames.size() == OFFWAIT_STACK_FRAMES);
}

TEST_CASE("a spin has the stack that its record brings") {
  RecordingByHand t = two_threads();
  offwait_spin spin{};
  spin.type = OFFWAIT_RECORD_SPIN;
  spin.tid = 11;
  spin.tgid = 10;
  spin.waker = 12;
  const auto add = [&t, &spin](std::uint64_t begin, const std::vector<std::uint64_t>& pcs) {
    spin.begin_ns = begin;
    spin.end_ns = begin + 50;
    spin.frames = static_cast<std::uint32_t>(pcs.size());
    std::copy(pcs.begin(), pcs.end(), std::begin(spin.pc));
    t.append(spin);
  };
  add(1100, {3, 4});
  add(1200, {3, 5});
  add(1300, {3, 4});
  add(1400, {});
  CHECK(only("wait", trace_of(t)) ==
        Lines{"wait 11@500 [1100,1150,1150) spin <- thread 12@600 stack u10:3;u10:4",
              "wait 11@500 [1200,1250,1250) spin <- thread 12@600 stack u10:3;u10:5",
              "wait 11@500 [1300,1350,1350) spin <- thread 12@600 stack u10:3;u10:4",
              "wait 11@500 [1400,1450,1450) spin <- thread 12@600"});
  CHECK(t.trace().stacks.size() == 2);
}

TEST_CASE("a stack that nobody has named has no frames") {
  RecordingByHand t = two_threads();
  t.stack(5, 0, {1});
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, by_thread(12));
  wait.wait_kernel = 5;
  t.append(wait);
  CHECK(t.trace().stacks.size() == 1);
  CHECK(assemble(t.recording, {}).stacks.empty());
}

TEST_CASE("only a thread as waker has a stack: in an interrupt it is the interrupted thread's") {
  RecordingByHand t = two_threads();
  t.stack(6, 10, {3});
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, kTimer);
  wait.waker_user = 6;
  t.append(wait);
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1200,1200) futex <- timer"});
}

}  // namespace
}  // namespace offwait
