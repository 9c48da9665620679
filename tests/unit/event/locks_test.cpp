// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "event/assemble.h"
#include "model/validate.h"
#include "offwait/event.h"
#include "recordings.h"

namespace offwait {
namespace {

using test::RecordingByHand;

constexpr std::uint32_t kCondition = 7;  // ids of stacks
constexpr std::uint32_t kOther = 8;
constexpr std::uint32_t kNameless = 9;

/// Threads 11 and 12 of process 10, seen at 1000.
struct RecordedWaits : RecordingByHand {
  NamedStacks stacks;
  std::uint64_t at = 2000;

  RecordedWaits() : RecordingByHand(1000, 100'000) {
    seen(11, 500, 1000, "main");
    seen(12, 600, 1000, "peer");
    left(11, 500, OFFWAIT_STATE_RUNNING, 99'000);
    left(12, 600, OFFWAIT_STATE_RUNNING, 99'000);
    stacks.frames = {{.function = "___pthread_cond_wait"}, {.function = "work"}, {.offset = 0x77}};
    stacks.recorded = {{kCondition, {{0, 1}, {}}}, {kOther, {{1}, {}}}, {kNameless, {{2}, {}}}};
  }

  /// A wait of thread 11.
  void wait(offwait_object kind, std::uint64_t object, std::uint32_t owner = 0,
            std::uint32_t stack = kOther) {
    offwait_wait wait = test::wait_of(11, at, at + 100, at + 100, test::kTimer);
    wait.flags = static_cast<std::uint8_t>(kind << OFFWAIT_OBJECT_SHIFT);
    wait.object = object;
    wait.owner = owner;
    wait.wait_user = stack;
    append(wait);
    at += 1000;
  }

  Trace trace() const {
    Trace made = assemble(recording, stacks);
    const Status valid = validate(made);
    if (!valid.ok()) FAIL(valid.error().message);
    return made;
  }
};

std::vector<std::uint64_t> addresses(const Trace& trace) {
  std::vector<std::uint64_t> out;
  for (const Wait& wait : trace.waits) {
    out.push_back(wait.object == kNoObject ? 0 : trace.objects.at(wait.object).address);
  }
  return out;
}

TEST_CASE("a futex is a word of its process, and a condition variable is two words") {
  RecordedWaits t;
  for (const std::uint32_t stack : {kOther, kCondition, kNameless, std::uint32_t{0}}) {
    t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 0, stack);
    t.wait(OFFWAIT_OBJECT_SHARED_FUTEX, 0x7004, 0, stack);
  }
  t.wait(OFFWAIT_OBJECT_FUTEX, 0);
  t.wait(OFFWAIT_OBJECT_FUTEX, 4, 0, kCondition);
  const Trace trace = t.trace();
  CHECK(addresses(trace) ==
        std::vector<std::uint64_t>{0x7000, 0x7004, 0x7000, 0x7000, 0x7000, 0x7000, 0x7000, 0x7000, 0, 0});
  CHECK(trace.objects.size() == 2);
  CHECK(trace.objects[0] == Object{.tgid = 10, .address = 0x7000});
}

TEST_CASE("locks of the kernel have a kind, and mmap_lock a process") {
  RecordedWaits t;
  t.wait(OFFWAIT_OBJECT_KERNEL_LOCK, UINT64_MAX - 1);
  t.wait(OFFWAIT_OBJECT_MUTEX, 1);
  t.wait(OFFWAIT_OBJECT_RWSEM, 2);
  t.wait(OFFWAIT_OBJECT_MMAP_LOCK, 3);
  t.wait(OFFWAIT_OBJECT_PERCPU_RWSEM, 4);
  t.wait(OFFWAIT_OBJECT_RTMUTEX, 5);
  t.wait(OFFWAIT_OBJECT_MUTEX, 0);
  t.wait(OFFWAIT_OBJECT_NONE, 9);
  t.wait(static_cast<offwait_object>(15), 9);
  const Trace trace = t.trace();
  constexpr auto kKernel = Object::Kind::kernel_lock;
  CHECK(trace.objects ==
        std::vector<Object>{
            {.kind = kKernel, .address = UINT64_MAX - 1},
            {.kind = kKernel, .lock = KernelLock::mutex, .address = 1},
            {.kind = kKernel, .lock = KernelLock::rwsem, .address = 2},
            {.kind = kKernel, .lock = KernelLock::rwsem, .tgid = 10, .address = 3, .symbol = "mmap_lock"},
            {.kind = kKernel, .lock = KernelLock::percpu_rwsem, .address = 4},
            {.kind = kKernel, .lock = KernelLock::rtmutex, .address = 5}});
  CHECK(addresses(trace) == std::vector<std::uint64_t>{UINT64_MAX - 1, 1, 2, 3, 4, 5, 0, 0, 0});
}

/// The tid of each wait's holder, 0 for none.
std::vector<std::int32_t> holders(const Trace& trace) {
  std::vector<std::int32_t> out;
  for (const Wait& wait : trace.waits) {
    out.push_back(wait.holder == kNoActor ? 0 : trace.actors.at(wait.holder).tid);
  }
  return out;
}

TEST_CASE("the owner of a futex is a thread of the process that lived then, by its own number") {
  RecordedWaits t;
  offwait_thread_record inside{};
  inside.type = OFFWAIT_RECORD_THREAD;
  inside.event = OFFWAIT_THREAD_SEEN;
  inside.tid = 13;
  inside.tgid = 10;
  inside.ns_tid = 3;
  inside.at_ns = 1000;
  inside.start_ns = 500;
  t.append(inside);
  inside.tid = 21;
  inside.tgid = 20;
  inside.ns_tid = 4;
  t.append(inside);
  t.seen(14, 700, 1000, "gone");
  t.exited(14, 5500);
  t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 14);          // at 2000
  t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 3);           // 13 calls itself 3
  t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 13);          // and nobody calls itself 13
  t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 14);          // at 5000
  t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 14);          // at 6000 it is gone
  t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 4);           // of another process
  t.wait(OFFWAIT_OBJECT_SHARED_FUTEX, 0x7000, 4);    // which may have this one
  t.wait(OFFWAIT_OBJECT_FUTEX, 0x7000, 0x80000003);  // no tid at all
  t.wait(OFFWAIT_OBJECT_MUTEX, 0x7000, 13);          // the kernel numbers threads by the host's namespace
  t.wait(OFFWAIT_OBJECT_MUTEX, 0x7000, 3);
  CHECK(holders(t.trace()) == std::vector<std::int32_t>{14, 13, 0, 14, 0, 0, 21, 0, 13, 0});
}

TEST_CASE("what is left in the kernel at the end has its lock and holder as well") {
  RecordedWaits t;
  t.recording.threads.clear();
  t.left(12, 600, OFFWAIT_STATE_RUNNING, 1000);
  offwait_thread& left = t.left(11, 500, OFFWAIT_STATE_BLOCKED, 3000);
  left.object_kind = OFFWAIT_OBJECT_FUTEX;
  left.object = 0x7000;
  left.owner = 12;
  const Trace trace = t.trace();
  REQUIRE(trace.waits.size() == 1);
  CHECK(addresses(trace) == std::vector<std::uint64_t>{0x7000});
  CHECK(holders(trace) == std::vector<std::int32_t>{12});
}

}  // namespace
}  // namespace offwait
