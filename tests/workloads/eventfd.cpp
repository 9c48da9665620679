// SPDX-License-Identifier: GPL-2.0-or-later
// Two threads hand a turn to each other through two eventfds. The value is the writer's tid, so the reader
// knows who woke it.
#include <array>
#include <optional>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {

void eventfd_ping_pong(Options& options) {
  const auto rounds = options.number("rounds", 300);
  const auto work_ns = options.number("work-us", 1500) * 1000;
  ready(options);

  const std::array<int, 2> fds{checked(eventfd(0, 0), "eventfd"), checked(eventfd(0, 0), "eventfd")};
  std::array<std::optional<ThreadTruth>, 2> truths;
  const auto play = [&](std::size_t me) {
    ThreadTruth& truth = truths[me].emplace(me == 0 ? "ping" : "pong");
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (round > 0 || me == 1) {
        truth.wait([&] {
          eventfd_t writer = 0;
          checked(eventfd_read(fds[me], &writer), "eventfd_read");
          return thread_waker(static_cast<pid_t>(writer));
        });
      }
      if (work_ns > 0) spin_cpu(work_ns);
      checked(eventfd_write(fds[1 - me], static_cast<eventfd_t>(truth.tid())), "eventfd_write");
    }
    truth.end();
  };

  std::thread ping(play, 0);
  std::thread pong(play, 1);
  ping.join();
  pong.join();
  for (const auto& truth : truths) truth->print();
}

}  // namespace workload
