// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps as soon as it runs, and says how often it has left its CPU since it was forked.
#include <ctime>

#include "workloads.h"

namespace workload {

void at_once(Options& options) {
  const auto rounds = options.number("rounds", 100);
  const auto sleep_ns = options.number("sleep-us", 500) * 1000;
  options.refuse_others();
  ThreadTruth truth("at_once");
  for (std::int64_t round = 0; round < rounds; ++round) {
    const timespec duration{.tv_sec = sleep_ns / 1'000'000'000, .tv_nsec = sleep_ns % 1'000'000'000};
    truth.wait([&] {
      clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
      return std::string("timer");
    });
  }
  truth.end();
  const std::int64_t switches = current_switches().voluntary;
  truth.print();
  print_truth("since_fork", {{"tid", current_tid()}, {"nvcsw", switches}});
}

}  // namespace workload
