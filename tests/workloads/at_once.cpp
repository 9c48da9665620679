// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps as soon as it runs, and prints how often it has left its CPU since it was forked.
#include "workloads.h"

namespace workload {

void at_once(Options& options) {
  const auto rounds = options.number("rounds", 100);
  const auto sleep_ns = options.number("sleep-us", 500) * 1000;
  options.refuse_others();
  ThreadTruth truth("at_once");
  truth.sleep(rounds, sleep_ns);
  truth.end();
  const std::int64_t switches = current_switches().voluntary;
  truth.print();
  print_truth("since_fork", {{"tid", current_tid()}, {"nvcsw", switches}});
}

}  // namespace workload
