// SPDX-License-Identifier: GPL-2.0-or-later
// A parent waits for children. Each child sleeps a while and exits, which wakes the parent.
#include <ctime>
#include <optional>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {

void child_wait(Options& options) {
  const auto count = options.number("count", 100);
  const auto sleep_us = options.number("sleep-us", 5000);
  ready(options);

  std::optional<ThreadTruth> truth;
  std::thread([&] {
    truth.emplace("parent");
    for (std::int64_t i = 0; i < count; ++i) {
      const pid_t child = checked(fork(), "fork");
      if (child == 0) {
        prctl(PR_SET_NAME, "child");
        const timespec duration{.tv_sec = sleep_us / 1'000'000, .tv_nsec = sleep_us % 1'000'000 * 1000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
        _exit(0);
      }
      truth->wait([&] {
        checked(waitpid(child, nullptr, 0), "waitpid");
        return thread_waker(child);
      });
    }
    truth->end();
  }).join();
  truth->print();
}

}  // namespace workload
