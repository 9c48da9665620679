// SPDX-License-Identifier: GPL-2.0-or-later
// What ring buffers cost on a machine with many CPUs. Each record takes its ring buffer's lock, a line that
// all CPUs write which share it. Measures how long a line takes from one CPU to another here, and simulates
// CPUs that emit records at random times and queue for the lock of their ring buffer, first come, first
// served. Prints a Markdown table for several rates and numbers of ring buffers. Then measures how long it
// takes to read records in order of time from a ring buffer for each CPU, which is what offwait does. Asserts
// nothing.
//
//   many_cpus [CPUS [NS_FOR_A_LINE [NS_UNDER_THE_LOCK]]]
//
// By default 256 CPUs, the time that was measured, and 40 ns.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <linux/bpf.h>
#include <sched.h>

#include "capture/ring_reader.h"
#include "offwait/event.h"

namespace {

void stay_on(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) std::perror("many_cpus: sched_setaffinity");
}

/// Nanoseconds that a line takes from one CPU to the other, by two threads that hand a number to and fro.
double measured_line_ns() {
  constexpr int kRounds = 200'000;
  std::atomic<int> turn{0};
  std::thread other([&turn] {
    stay_on(1);
    for (int i = 0; i < kRounds; ++i) {
      while (turn.load(std::memory_order_acquire) != 2 * i + 1) {
      }
      turn.store(2 * i + 2, std::memory_order_release);
    }
  });
  stay_on(0);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) {
    turn.store(2 * i + 1, std::memory_order_release);
    while (turn.load(std::memory_order_acquire) != 2 * i + 2) {
    }
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  other.join();
  return took.count() / (2.0 * kRounds);
}

struct Outcome {
  double records_per_s = 0;  ///< emitted; fewer than asked for where the CPUs mostly wait for the lock
  double lock_used = 0;      ///< part of the time that the busiest ring buffer's lock is taken or on its way
  double emit_ns = 0;        ///< for one record, on average
  double cpu = 0;            ///< part of all CPUs' time that goes into it
};

/// Between two records a CPU does other work for `cpus` ÷ `rate` on average.
Outcome simulate(unsigned cpus, unsigned rings, double rate, double line_ns, double held_ns) {
  constexpr std::uint64_t kRecords = 1'000'000;
  std::mt19937_64 random(1);
  std::exponential_distribution<double> work_ns(rate / cpus * 1e-9);
  struct Ring {
    double free_at = 0;
    double used_ns = 0;
    unsigned last = 0;  ///< the CPU that has the line
  };
  std::vector<Ring> all(rings);
  using Arrival = std::pair<double, unsigned>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) arrivals.push({work_ns(random), cpu});
  double emit_ns = 0;
  double now = 0;
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    const auto [at, cpu] = arrivals.top();
    arrivals.pop();
    now = at;
    Ring& ring = all[cpu % rings];
    const double service = held_ns + (ring.last == cpu ? 0 : line_ns);
    const double done = std::max(at, ring.free_at) + service;
    ring.free_at = done;
    ring.used_ns += service;
    ring.last = cpu;
    emit_ns += done - at;
    arrivals.push({done + work_ns(random), cpu});
  }
  double most_used = 0;
  for (const Ring& ring : all) most_used = std::max(most_used, ring.used_ns / std::max(ring.free_at, now));
  return {kRecords / now * 1e9, most_used, emit_ns / kRecords, emit_ns / now / cpus};
}

/// A ring buffer that is full of short waits, `apart` ns from one to the next on average.
class FullRing {
 public:
  FullRing(std::mt19937_64& random, double apart) : data_(2 * kBytes) {
    std::exponential_distribution<double> pause(1 / apart);
    double now = 0;
    const std::uint32_t bytes = OFFWAIT_SHORT_WAIT;
    const std::size_t whole = BPF_RINGBUF_HDR_SZ + (bytes + 7) / 8 * 8;
    for (; produced_ + whole <= kBytes; produced_ += whole) {
      now += pause(random);
      offwait_wait wait{};
      wait.type = OFFWAIT_RECORD_WAIT;
      wait.run_ns = static_cast<__u64>(now);
      std::memcpy(data_.data() + produced_, &bytes, sizeof(bytes));
      std::memcpy(data_.data() + produced_ + BPF_RINGBUF_HDR_SZ, &wait, bytes);
    }
  }

  offwait::RingMemory memory() { return {&consumed_, &produced_, data_.data(), kBytes}; }

 private:
  static constexpr std::size_t kBytes = 65536;
  std::uint64_t consumed_ = 0;
  std::uint64_t produced_ = 0;
  std::vector<std::byte> data_;
};

/// Nanoseconds for a record.
double read_in_order(unsigned cpus) {
  std::mt19937_64 random(1);
  std::deque<FullRing> rings;
  std::vector<offwait::RingReader> readers;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) readers.emplace_back(rings.emplace_back(random, 1000).memory());
  std::uint64_t records = 0;
  const auto begin = std::chrono::steady_clock::now();
  offwait::take_in_order(
      readers, INT64_MAX,
      [](void* count, std::span<const std::byte>) { ++*static_cast<std::uint64_t*>(count); }, &records);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(records);
}

}  // namespace

int main(int argc, char** argv) {
  const auto cpus = static_cast<unsigned>(argc > 1 ? std::max(1, std::atoi(argv[1])) : 256);
  const double line_ns = argc > 2 ? std::atof(argv[2]) : measured_line_ns();
  const double held_ns = argc > 3 ? std::atof(argv[3]) : 40;
  std::printf("%u CPUs; a line takes %.0f ns from one to another; the lock is held for %.0f ns\n\n", cpus,
              line_ns, held_ns);
  std::printf(
      "| records/s wanted | ring buffers | records/s | lock used, %% | ns/record | CPU of all, %% |\n");
  std::printf("|---:|---:|---:|---:|---:|---:|\n");
  for (const double rate : {5e5, 1e6, 2.5e6, 5e6, 1e7}) {
    for (const unsigned rings : {1U, std::max(1U, cpus / 8), cpus}) {
      const Outcome outcome = simulate(cpus, rings, rate, line_ns, held_ns);
      std::printf("| %.1f M | %u | %.2f M | %.0f | %.0f | %.2f |\n", rate * 1e-6, rings,
                  outcome.records_per_s * 1e-6, 100 * outcome.lock_used, outcome.emit_ns, 100 * outcome.cpu);
    }
  }
  std::printf("\nReading in order of time:");
  for (const unsigned rings : {1U, 2U, 8U, 64U, cpus})
    std::printf(" %u ring buffers %.0f ns a record%s", rings, read_in_order(rings),
                rings == cpus ? "\n" : ",");
}
