// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that sleep until absolute times.
#include <ctime>
#include <optional>
#include <thread>

#include "workloads.h"

namespace workload {

void sleep_loop(Options& options) {
  const auto count = static_cast<std::size_t>(options.number("threads", 2));
  const auto rounds = options.number("rounds", 200);
  const auto sleep_ns = options.number("sleep-us", 3000) * 1000;
  ready(options);

  std::vector<std::optional<ThreadTruth>> truths(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (auto& truth : truths) {
    threads.emplace_back([&] {
      truth.emplace("sleeper");
      for (std::int64_t round = 0; round < rounds; ++round) {
        const Nanos until = monotonic_now() + sleep_ns;
        const timespec deadline{.tv_sec = until / 1'000'000'000, .tv_nsec = until % 1'000'000'000};
        truth->wait([&] {
          clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
          return std::string("timer");
        });
      }
      truth->end();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& truth : truths) truth->print();
}

}  // namespace workload
