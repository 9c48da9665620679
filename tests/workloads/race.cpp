// SPDX-License-Identifier: GPL-2.0-or-later
// Wakes that hit a thread before, while and after it goes to sleep. The sleeper announces that it will wait
// on a futex; within a random 0 to 3 µs after that the waker, on another CPU, changes the word and wakes.
#include <atomic>
#include <cerrno>
#include <optional>
#include <thread>

#include "futex.h"
#include "workloads.h"

namespace workload {
namespace {

/// The next number of an xorshift generator; the sequence does not matter.
std::uint32_t next_random(std::uint32_t& state) {
  state ^= state << 13U;
  state ^= state >> 17U;
  state ^= state << 5U;
  return state;
}

void delay(Nanos ns) {
  const Nanos end = monotonic_now() + ns;
  while (monotonic_now() < end) {
  }
}

}  // namespace

void race(Options& options) {
  const auto races = static_cast<std::uint32_t>(options.number("races", 1'000'000));
  const auto max_delay_ns = static_cast<std::uint32_t>(options.number("max-delay-ns", 3000));
  ready(options);

  alignas(64) std::atomic<std::uint32_t> announced{0};
  alignas(64) std::atomic<std::uint32_t> word{0};
  std::int64_t returned_0 = 0;
  std::int64_t returned_eagain = 0;
  std::int64_t wakes_that_found_it = 0;
  std::optional<ThreadTruth> sleeper_truth;
  std::optional<ThreadTruth> waker_truth;

  std::thread sleeper([&] {
    pin_to_cpu(0);
    sleeper_truth.emplace("sleeper");
    for (std::uint32_t round = 0; round < races; ++round) {
      announced.store(round + 1, std::memory_order_release);
      while (word.load(std::memory_order_acquire) == round) {
        if (futex_wait(word, round) == 0) {
          ++returned_0;
        } else if (errno == EAGAIN) {
          ++returned_eagain;
        }
      }
    }
    sleeper_truth->end();
  });
  std::thread waker([&] {
    pin_to_cpu(1);
    waker_truth.emplace("waker");
    std::uint32_t random = 2463534242U;
    for (std::uint32_t round = 0; round < races; ++round) {
      while (announced.load(std::memory_order_acquire) != round + 1) {
      }
      // Half of the wakes come in the first fractions of a µs, when the sleeper is on its way into the
      // kernel.
      const std::uint32_t limit = max_delay_ns / (round % 2 == 0 ? 1 : 8);
      delay(next_random(random) % (limit + 1));
      word.store(round + 1, std::memory_order_release);
      wakes_that_found_it += futex_wake_one(word);
    }
    waker_truth->end();
  });
  sleeper.join();
  waker.join();
  sleeper_truth->print();
  waker_truth->print();
  // A wake that found the sleeper queued need not have found it asleep: nvcsw <= futex_returned_0.
  print_truth("race", {{"sleeper", sleeper_truth->tid()},
                       {"waker", waker_truth->tid()},
                       {"races", races},
                       {"max_waits", sleeper_truth->switches().voluntary},
                       {"futex_returned_0", returned_0},
                       {"futex_returned_eagain", returned_eagain},
                       {"wakes_that_found_it", wakes_that_found_it}});
}

}  // namespace workload
