// SPDX-License-Identifier: GPL-2.0-or-later
// Two threads, first and second, with the same tid one after the other and with different waits. The next tid
// is set through ns_last_pid, which decides about the host's tids only in the initial PID namespace.
#include <ctime>
#include <fstream>
#include <optional>
#include <thread>

#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

void sleep_us(std::int64_t us) {
  const timespec duration{.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

ThreadTruth sleep_rounds(const char* name, std::int64_t rounds, std::int64_t us) {
  ThreadTruth truth(name);
  for (std::int64_t round = 0; round < rounds; ++round) {
    truth.wait([&] {
      sleep_us(us);
      return std::string("timer");
    });
  }
  truth.end();
  return truth;
}

bool in_initial_pid_namespace() {
  constexpr std::string_view kInitial = "pid:[4026531836]";  // PROC_PID_INIT_INO
  std::string link(64, '\0');
  const ssize_t length = readlink("/proc/self/ns/pid", link.data(), link.size());
  return length > 0 && std::string_view(link.data(), static_cast<std::size_t>(length)) == kInitial;
}

}  // namespace

void tid_reuse(Options& options) {
  const auto rounds = options.number("rounds", 50);
  const auto us = options.number("sleep-us", 3000);
  if (!in_initial_pid_namespace()) skip("not in the initial PID namespace");
  if (!std::ofstream("/proc/sys/kernel/ns_last_pid")) skip("ns_last_pid cannot be written");
  ready(options);

  std::optional<ThreadTruth> first;
  std::optional<ThreadTruth> second;
  std::thread([&] { first = sleep_rounds("first", rounds, us); }).join();
  // The tid becomes free a moment after the join, and another process may take it.
  for (int attempt = 0; attempt < 1000 && !second; ++attempt) {
    std::ofstream("/proc/sys/kernel/ns_last_pid") << first->tid() - 1 << std::flush;
    std::thread([&] {
      if (current_tid() == first->tid()) second = sleep_rounds("second", rounds * 3, us);
    }).join();
    if (!second) sleep_us(1000);
  }
  if (!second) skip("the tid was not free again");
  first->print();
  second->print();
}

}  // namespace workload
