// SPDX-License-Identifier: GPL-2.0-or-later
// One function for each workload; README.md says what each does.
#pragma once

#include "truth.h"

namespace workload {

void at_once(Options& options);
void blocked_throughout(Options& options);
void busy_waker(Options& options);
void child_wait(Options& options);
void condvar(Options& options);
void eventfd_ping_pong(Options& options);
void exec_middle(Options& options);
void fork_churn(Options& options);
void fsync_loop(Options& options);
void herd(Options& options);
void load(Options& options);
void mutex(Options& options);
void page_fault(Options& options);
void pipe_ping_pong(Options& options);
void preempted_sleeper(Options& options);
void race(Options& options);
void signal_wake(Options& options);
void sleep_loop(Options& options);
void socket_ping_pong(Options& options);
void spawn_names(Options& options);
void spin(Options& options);
void tid_reuse(Options& options);
void timer_poll(Options& options);

}  // namespace workload
