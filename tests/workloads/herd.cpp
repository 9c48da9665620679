// SPDX-License-Identifier: GPL-2.0-or-later
// For each ticket pthread_cond_broadcast wakes all waiters. One of them takes the ticket, the others find
// nothing and wait again.
#include <thread>
#include <vector>

#include <pthread.h>

#include "workloads.h"

namespace workload {

void herd(Options& options) {
  const auto count = static_cast<std::size_t>(options.number("threads", 6));
  const auto tickets = options.number("tickets", 150);
  const auto every_ns = options.number("every-us", 3000) * 1000;
  const auto work_ns = options.number("work-us", 200) * 1000;
  ready(options);

  struct Waiter {
    pid_t tid = 0;
    std::int64_t woken = 0;  // Returns from pthread_cond_wait.
    std::int64_t in_vain = 0;
    std::int64_t taken = 0;
  };
  std::vector<Waiter> waiters(count);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t has_ticket = PTHREAD_COND_INITIALIZER;
  std::int64_t left = 0;
  bool sold_out = false;

  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      pthread_setname_np(pthread_self(), "waiter");
      Waiter& me = waiters[i];
      me.tid = current_tid();
      pthread_mutex_lock(&mutex);
      while (!sold_out || left > 0) {
        if (left > 0) {
          --left;
          ++me.taken;
          pthread_mutex_unlock(&mutex);
          spin_cpu(work_ns);
          pthread_mutex_lock(&mutex);
          continue;
        }
        pthread_cond_wait(&has_ticket, &mutex);
        ++me.woken;
        if (left == 0 && !sold_out) ++me.in_vain;
      }
      pthread_mutex_unlock(&mutex);
    });
  }
  std::thread seller([&] {
    pthread_setname_np(pthread_self(), "seller");
    for (std::int64_t ticket = 0; ticket < tickets; ++ticket) {
      const timespec pause{0, every_ns};
      nanosleep(&pause, nullptr);
      pthread_mutex_lock(&mutex);
      ++left;
      pthread_cond_broadcast(&has_ticket);
      pthread_mutex_unlock(&mutex);
    }
    const timespec pause{0, every_ns};
    nanosleep(&pause, nullptr);
    pthread_mutex_lock(&mutex);
    sold_out = true;
    pthread_cond_broadcast(&has_ticket);
    pthread_mutex_unlock(&mutex);
  });
  seller.join();
  for (std::thread& thread : threads) thread.join();
  for (const Waiter& waiter : waiters) {
    print_truth("waiter", {{"tid", static_cast<std::int64_t>(waiter.tid)},
                           {"woken", waiter.woken},
                           {"in_vain", waiter.in_vain},
                           {"taken", waiter.taken}});
  }
}

}  // namespace workload
