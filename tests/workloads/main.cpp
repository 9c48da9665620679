// SPDX-License-Identifier: GPL-2.0-or-later
// workload NAME [--option value]...: programs whose waits are known, for the tests of the recorder.
#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "workloads.h"

namespace {

struct Entry {
  std::string_view name;
  void (*run)(workload::Options&);
};

constexpr std::array kWorkloads{
    Entry{"at_once", workload::at_once},
    Entry{"blocked_throughout", workload::blocked_throughout},
    Entry{"busy_waker", workload::busy_waker},
    Entry{"child_wait", workload::child_wait},
    Entry{"condvar", workload::condvar},
    Entry{"eventfd", workload::eventfd_ping_pong},
    Entry{"exec_middle", workload::exec_middle},
    Entry{"fork_churn", workload::fork_churn},
    Entry{"fsync", workload::fsync_loop},
    Entry{"herd", workload::herd},
    Entry{"load", workload::load},
    Entry{"mutex", workload::mutex},
    Entry{"nanosleep", workload::sleep_loop},
    Entry{"page_fault", workload::page_fault},
    Entry{"pipe", workload::pipe_ping_pong},
    Entry{"preempted_sleeper", workload::preempted_sleeper},
    Entry{"race", workload::race},
    Entry{"signal_wake", workload::signal_wake},
    Entry{"socket", workload::socket_ping_pong},
    Entry{"spawn_names", workload::spawn_names},
    Entry{"spin", workload::spin},
    Entry{"tid_reuse", workload::tid_reuse},
    Entry{"timer_poll", workload::timer_poll},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Entry& entry : kWorkloads) {
    if (entry.name == name) {
      workload::Options options(argc - 2, argv + 2);
      entry.run(options);
      workload::done(options);
      // Threads may still be blocked, some of them forever.
      std::_Exit(0);
    }
  }
  std::cerr << "usage: workload NAME [--option value]... [--exit]\nworkloads:";
  for (const Entry& entry : kWorkloads) std::cerr << " " << entry.name;
  std::cerr << "\n";
  return 2;
}
