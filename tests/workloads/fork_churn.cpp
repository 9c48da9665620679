// SPDX-License-Identifier: GPL-2.0-or-later
// A creator starts short threads (with --processes: processes) one after the other and waits for the end of
// each. The thread or process that ends wakes it.
#include <atomic>
#include <optional>
#include <thread>

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

pid_t run_process(ThreadTruth& creator, Nanos work_ns) {
  const pid_t child = checked(fork(), "fork");
  if (child == 0) {
    prctl(PR_SET_NAME, "short");
    spin_cpu(work_ns);
    _exit(0);
  }
  creator.wait([&] {
    checked(waitpid(child, nullptr, 0), "waitpid");
    return std::string("peer");
  });
  return child;
}

pid_t run_thread(ThreadTruth& creator, Nanos work_ns) {
  pid_t tid = 0;
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), "short");
    tid = current_tid();
    spin_cpu(work_ns);
  });
  creator.wait([&] {
    thread.join();
    return std::string("peer");
  });
  return tid;
}

}  // namespace

void fork_churn(Options& options) {
  const auto count = options.number("count", 10'000);
  const auto work_ns = options.number("work-us", 30) * 1000;
  const bool processes = options.flag("processes");
  ready(options);

  struct Join {
    pid_t tid;
    std::int64_t waits;
  };
  std::vector<Join> joins;
  std::optional<ThreadTruth> truth;
  std::thread([&] {
    truth.emplace("creator");
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t before = current_switches().voluntary;
      const pid_t tid = processes ? run_process(*truth, work_ns) : run_thread(*truth, work_ns);
      joins.push_back({.tid = tid, .waits = current_switches().voluntary - before});
    }
    truth->end();
  }).join();
  truth->print();
  for (const Join& join : joins)
    print_truth("join", {{"creator", truth->tid()}, {"tid", join.tid}, {"waits", join.waits}});
}

}  // namespace workload
