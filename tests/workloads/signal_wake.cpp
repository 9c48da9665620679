// SPDX-License-Identifier: GPL-2.0-or-later
// One thread waits in sigsuspend (which is pause without its race), another in sigwait. A third one wakes
// both with signals.
#include <atomic>
#include <csignal>
#include <ctime>
#include <optional>
#include <thread>

#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

void sleep_ms(ThreadTruth& truth, long ms) {
  const timespec duration{.tv_sec = 0, .tv_nsec = ms * 1'000'000};
  truth.wait([&] {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
    return std::string("timer");
  });
}

}  // namespace

void signal_wake(Options& options) {
  const auto rounds = options.number("rounds", 200);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  sigset_t user;
  sigset_t none;
  sigemptyset(&none);
  sigemptyset(&user);
  sigaddset(&user, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &user, nullptr);
  ready(options);

  std::optional<ThreadTruth> pauser_truth;
  std::optional<ThreadTruth> sigwaiter_truth;
  std::optional<ThreadTruth> killer_truth;
  std::atomic<pid_t> killer_tid{0};
  std::atomic<std::int64_t> handled{0};
  const auto wait_for_signals = [&](ThreadTruth& truth, auto wait_for_one) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      truth.wait([&] {
        wait_for_one();
        return thread_waker(killer_tid);
      });
      ++handled;
    }
    truth.end();
  };

  std::thread pauser([&] { wait_for_signals(pauser_truth.emplace("pauser"), [&] { sigsuspend(&none); }); });
  std::thread sigwaiter([&] {
    wait_for_signals(sigwaiter_truth.emplace("sigwaiter"), [&] {
      int signal = 0;
      sigwait(&user, &signal);
    });
  });
  std::thread killer([&] {
    ThreadTruth& truth = killer_truth.emplace("killer");
    killer_tid = truth.tid();
    for (std::int64_t round = 0; round < rounds; ++round) {
      // A signal that is sent before the last one was handled would be lost.
      do {
        sleep_ms(truth, 2);
      } while (handled != 2 * round);
      pthread_kill(pauser.native_handle(), SIGUSR1);
      pthread_kill(sigwaiter.native_handle(), SIGUSR1);
    }
    truth.end();
  });
  killer.join();
  pauser.join();
  sigwaiter.join();
  pauser_truth->print();
  sigwaiter_truth->print();
  killer_truth->print();
}

}  // namespace workload
