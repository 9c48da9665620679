// SPDX-License-Identifier: GPL-2.0-or-later
// Two threads hand a turn to each other through a condition variable. --work-us 0 makes it a race of short
// waits.
#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include <pthread.h>

#include "workloads.h"

namespace workload {

void condvar(Options& options) {
  const auto rounds = options.number("rounds", 300);
  const auto work_ns = options.number("work-us", 1500) * 1000;
  ready(options);

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::array<pthread_cond_t, 2> has_turn{{PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER}};
  std::array<std::atomic<pid_t>, 2> tids{};
  std::array<std::optional<ThreadTruth>, 2> truths;
  std::size_t turn = 0;

  const auto play = [&](std::size_t me) {
    const std::size_t other = 1 - me;
    ThreadTruth& truth = truths[me].emplace(me == 0 ? "ping" : "pong");
    tids[me] = truth.tid();
    const auto lock = [&] {
      truth.wait([&] {
        pthread_mutex_lock(&mutex);
        return thread_waker(tids[other]);
      });
    };
    for (std::int64_t round = 0; round < rounds; ++round) {
      lock();
      while (turn != me) {
        truth.wait([&] {
          pthread_cond_wait(&has_turn[me], &mutex);
          return thread_waker(tids[other]);
        });
      }
      pthread_mutex_unlock(&mutex);
      if (work_ns > 0) spin_cpu(work_ns);
      lock();
      turn = other;
      pthread_mutex_unlock(&mutex);
      pthread_cond_signal(&has_turn[other]);
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
