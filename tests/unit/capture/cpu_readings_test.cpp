// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/cpu_readings.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>

#include <sched.h>
#include <unistd.h>

#include "base/monotonic.h"

namespace offwait {
namespace {

offwait_thread_record own_thread(std::uint8_t event = OFFWAIT_THREAD_SEEN,
                                 std::uint8_t outside = OFFWAIT_TARGET) {
  offwait_thread_record record{};
  record.type = OFFWAIT_RECORD_THREAD;
  record.event = event;
  record.outside = outside;
  record.tid = static_cast<std::uint32_t>(::gettid());
  record.tgid = static_cast<std::uint32_t>(::getpid());
  record.start_ns = 5;
  return record;
}

/// A thread that began as a child of this one, and is gone.
offwait_thread_record own_child_that_exited() {
  offwait_thread_record child = own_thread(OFFWAIT_THREAD_BORN);
  child.tid = 2147483647;
  child.parent = static_cast<std::uint32_t>(::gettid());
  return child;
}

/// Binds this thread to its first CPU while it lives.
class Bound {
 public:
  Bound() {
    REQUIRE(::sched_getaffinity(0, sizeof(before_), &before_) == 0);
    while (!CPU_ISSET(cpu, &before_)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { ::sched_setaffinity(0, sizeof(before_), &before_); }
  bool only_one() const { return CPU_COUNT(&before_) == 1; }

  std::uint32_t cpu = 0;

 private:
  cpu_set_t before_{};
};

TEST_CASE("a thread that may use one CPU only is found, also if it was bound during the recording") {
  CpuReadings cpus;
  cpus.note(own_thread());
  cpus.begin();
  const Bound bound;
  if (bound.only_one()) return;  // then there is nothing to be bound to
  KernelRecording recording;
  cpus.end(recording);
  REQUIRE(recording.allowed_cpus.size() == 1);
  CHECK(recording.allowed_cpus.begin()->first == ThreadKey{static_cast<std::uint32_t>(::gettid()), 5});
  CHECK(recording.allowed_cpus.begin()->second == CpuList{{bound.cpu, bound.cpu}});
}

TEST_CASE("a thread that exited before it could be asked has the CPUs of its parent") {
  const Bound bound;
  if (bound.only_one()) return;
  CpuReadings cpus;
  cpus.note(own_thread());
  offwait_thread_record gone = own_child_that_exited();
  cpus.note(gone);
  offwait_thread_record orphan = gone;
  orphan.tid = 2147483646;
  orphan.parent = 1;
  cpus.note(orphan);
  cpus.begin();
  KernelRecording recording;
  cpus.end(recording);
  REQUIRE(recording.allowed_cpus.size() == 2);
  CHECK(recording.allowed_cpus.at({gone.tid, 5}) == CpuList{{bound.cpu, bound.cpu}});
}

TEST_CASE(
    "threads outside of the target, threads that exited and threads that may use every CPU are not asked") {
  KernelRecording recording;
  {
    CpuReadings cpus;
    cpus.note(own_thread());
    cpus.begin();
    cpus.end(recording);
    CHECK(recording.allowed_cpus.empty());
  }
  const Bound bound;
  CpuReadings cpus;
  cpus.note(own_thread(OFFWAIT_THREAD_SEEN, OFFWAIT_OUTSIDE));
  offwait_thread_record gone = own_thread();
  gone.tid = 2147483647;
  cpus.note(gone);
  cpus.note(own_thread(OFFWAIT_THREAD_EXITED));
  cpus.begin();
  cpus.end(recording);
  CHECK(recording.allowed_cpus.empty());
}

TEST_CASE("the CPUs of threads that have exited are forgotten when a recording has them") {
  const Bound bound;
  if (bound.only_one()) return;
  CpuReadings cpus;
  cpus.note(own_thread());
  offwait_thread_record gone = own_child_that_exited();
  cpus.note(gone);
  cpus.begin();
  cpus.forget_exited();  // its exit was not told yet
  KernelRecording first;
  cpus.add_to(first);
  CHECK(first.allowed_cpus.size() == 2);
  gone.event = OFFWAIT_THREAD_EXITED;
  cpus.note(gone);
  cpus.forget_exited();
  KernelRecording second;
  cpus.end(second);
  REQUIRE(second.allowed_cpus.size() == 1);
  CHECK(second.allowed_cpus.begin()->first.tid == static_cast<std::uint32_t>(::gettid()));
  CHECK(std::none_of(second.other_processes.begin(), second.other_processes.end(),
                     [](const ProcessCpuTime& process) { return process.tgid == ::getpid(); }));
}

TEST_CASE(
    "the times of the CPUs add up to those of the machine, and no process of the target is another one") {
  CpuReadings cpus;
  cpus.note(own_thread());
  cpus.begin();
  KernelRecording recording;
  recording.window.begin = monotonic_now();
  recording.window.end = recording.window.begin + 200'000'000;
  while (monotonic_now() < recording.window.end) {
  }
  cpus.end(recording);
  REQUIRE(recording.cpu_times.size() == static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  Nanos busy = 0;
  for (const CpuTime& cpu : recording.cpu_times) busy += cpu.busy_ns;
  CHECK(busy > 100'000'000);
  // The kernel rounds each field to whole ticks.
  CHECK(std::abs(busy - recording.cpu_busy_ns) <= 100'000'000);
  CHECK(recording.cpu_steal_ns <= recording.cpu_busy_ns);
  CHECK(std::none_of(recording.other_processes.begin(), recording.other_processes.end(),
                     [](const ProcessCpuTime& process) { return process.tgid == ::getpid(); }));
  CHECK(recording.other_processes.size() <= 5);
}

}  // namespace
}  // namespace offwait
