// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/priority.h"

#include <sched.h>
#include <sys/resource.h>

namespace offwait {
namespace {

constexpr int kHighestNice = -20;

/// With SCHED_RESET_ON_FORK a process that is started by the thread gets an ordinary priority.
bool schedule_as(int policy, int priority) {
  const sched_param parameter{priority};
  return ::sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &parameter) == 0;
}

/// Of the calling thread alone: Linux gives each thread a nice value of its own (setpriority(2)).
bool set_nice(int nice) { return ::setpriority(PRIO_PROCESS, 0, nice) == 0; }

}  // namespace

Priority::Priority() : own_nice_(::getpriority(PRIO_PROCESS, 0)) {
  if (set_nice(kHighestNice)) highest_ = PriorityLevel::nice;
}

void Priority::urgent() {
  if (ended_ || urgent_ || !schedule_as(SCHED_FIFO, ::sched_get_priority_min(SCHED_FIFO))) return;
  urgent_ = true;
  highest_ = PriorityLevel::real_time;
}

void Priority::patient() {
  if (urgent_ && schedule_as(SCHED_OTHER, 0)) urgent_ = false;
}

void Priority::end() {
  if (ended_) return;
  patient();
  set_nice(own_nice_);
  ended_ = true;
}

}  // namespace offwait
