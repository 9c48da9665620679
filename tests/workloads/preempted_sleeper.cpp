// SPDX-License-Identifier: GPL-2.0-or-later
// Threads share one CPU with a realtime thread that wakes at random times and preempts them after they have
// set their state to sleeping, and before they sleep or decide not to:
// - ping and pong wait for each other in read() and in poll() with a timeout. poll() arms a timer between
// setting
//   the state and sleeping, which takes long. Only a kernel that preempts itself (preempt=full or lazy)
//   interrupts that.
// - reaper, a process, waits for children that have exited already. The kernel releases the child, and its
// cached
//   entries below /proc/CHILD, while the parent's state is still sleeping, and offers the CPU to others
//   meanwhile, under preempt=none and voluntary too. So the parent is preempted in that state, but never
//   sleeps.
#include <array>
#include <atomic>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

[[noreturn]] void reaper(std::int64_t children) {
  pin_to_cpu(0);
  ThreadTruth truth("reaper");
  for (std::int64_t i = 0; i < children; ++i) {
    const pid_t child = checked(fork(), "fork");
    if (child == 0) _exit(0);
    truth.wait([&] {
      siginfo_t exited{};
      checked(waitid(P_PID, static_cast<id_t>(child), &exited, WEXITED | WNOWAIT), "waitid");
      return thread_waker(child);
    });
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(child), error)) {
      static_cast<void>(entry.status(error));
    }
    truth.wait([&] {
      checked(waitpid(child, nullptr, 0), "waitpid");
      return std::string("nobody");
    });
  }
  truth.end();
  truth.print();
  _exit(0);
}

}  // namespace

void preempted_sleeper(Options& options) {
  const auto rounds = options.number("rounds", 200'000);
  const auto max_gap_us = options.number("max-gap-us", 60);
  ready(options);

  const pid_t reaper_process = checked(fork(), "fork");
  if (reaper_process == 0) reaper(rounds / 50);
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& ends : pipes) checked(pipe(ends.data()), "pipe");
  std::array<std::optional<ThreadTruth>, 2> truths;
  std::atomic<bool> stop{false};

  const auto play = [&](std::size_t me) {
    pin_to_cpu(0);
    ThreadTruth& truth = truths[me].emplace(me == 0 ? "ping" : "pong");
    const int from = pipes[me][0];
    const int to = pipes[1 - me][1];
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (round > 0 || me == 1) {
        pid_t writer = 0;
        truth.wait([&] {
          pollfd readable{.fd = from, .events = POLLIN, .revents = 0};
          if (round % 2 == 0) poll(&readable, 1, 60'000);
          if (read(from, &writer, sizeof(writer)) != sizeof(writer)) fail("read");
          return thread_waker(writer);
        });
      }
      const pid_t tid = truth.tid();
      if (write(to, &tid, sizeof(tid)) != sizeof(tid)) fail("write");
    }
    truth.end();
  };

  std::optional<ThreadTruth> preempter_truth;
  std::thread preempter([&] {
    pin_to_cpu(0);
    const sched_param realtime{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &realtime) != 0) skip("SCHED_FIFO is not allowed");
    preempter_truth.emplace("preempter");
    std::uint32_t random = 1;
    while (!stop) {
      random = random * 1664525U + 1013904223U;
      const timespec gap{.tv_sec = 0, .tv_nsec = (random >> 8U) % (max_gap_us * 1000) + 1};
      preempter_truth->wait([&] {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, nullptr);
        return std::string("timer");
      });
    }
    preempter_truth->end();
  });
  std::thread ping(play, 0);
  std::thread pong(play, 1);
  ping.join();
  pong.join();
  checked(waitpid(reaper_process, nullptr, 0), "waitpid");
  stop = true;
  preempter.join();
  for (const auto& truth : truths) truth->print();
  preempter_truth->print();
}

}  // namespace workload
