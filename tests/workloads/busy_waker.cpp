// SPDX-License-Identifier: GPL-2.0-or-later
// One thread waits for another. While it waits, the other one runs workload_hot() for 70 % and
// workload_cool() for 30 % of the time. It runs workload_unwaited() only while the first one does not wait.
#include <atomic>
#include <thread>

#include <semaphore.h>
#include <time.h>

#include "workloads.h"

namespace workload {
namespace {

Nanos cpu_now() {
  timespec time{};
  checked(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), "clock_gettime");
  return time.tv_sec * Nanos{1'000'000'000} + time.tv_nsec;
}

/// Computes for some 10 µs without a system call.
[[gnu::always_inline]] inline void compute() {
  for (int i = 0; i < 20'000; ++i) asm volatile("");
}

}  // namespace

extern "C" [[gnu::noinline]] void workload_hot(Nanos ns) {
  for (const Nanos end = cpu_now() + ns; cpu_now() < end;) compute();
}
extern "C" [[gnu::noinline]] void workload_cool(Nanos ns) {
  for (const Nanos end = cpu_now() + ns; cpu_now() < end;) compute();
}
extern "C" [[gnu::noinline]] void workload_unwaited(const std::atomic<std::int64_t>* rounds_begun,
                                                    std::int64_t round) {
  while (rounds_begun->load() <= round) compute();
}

void busy_waker(Options& options) {
  const auto rounds = options.number("rounds", 120);
  const auto hot_ns = options.number("hot-us", 7000) * 1000;
  const auto cool_ns = options.number("cool-us", 3000) * 1000;
  const auto apart_us = options.number("apart-us", 3000);
  ready(options);

  sem_t answer{};
  checked(sem_init(&answer, 0, 0), "sem_init");
  std::atomic<std::int64_t> waits_begun = 0;
  std::thread waker([&] {
    const Nanos begin = monotonic_now();
    const Nanos cpu_begin = cpu_now();
    for (std::int64_t round = 0; round < rounds; ++round) {
      workload_unwaited(&waits_begun, round);
      workload_hot(hot_ns);
      workload_cool(cool_ns);
      checked(sem_post(&answer), "sem_post");
    }
    print_truth("waker", {{"tid", static_cast<std::int64_t>(current_tid())},
                          {"begin_ns", begin},
                          {"end_ns", monotonic_now()},
                          {"cpu_ns", cpu_now() - cpu_begin},
                          {"hot_ns", rounds * hot_ns},
                          {"cool_ns", rounds * cool_ns}});
  });
  std::thread waiter([&] {
    for (std::int64_t round = 0; round < rounds; ++round) {
      const timespec pause{0, apart_us * 1000};
      nanosleep(&pause, nullptr);
      ++waits_begun;
      while (sem_wait(&answer) != 0) {
      }
    }
    print_truth("waiter", {{"tid", static_cast<std::int64_t>(current_tid())}});
  });
  waker.join();
  waiter.join();
}

}  // namespace workload
