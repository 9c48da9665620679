// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/priority.h"

#include <charconv>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/read_file.h"

namespace offwait {
namespace {

constexpr int kHighestNice = -20;
/// The weight of a thread with nice -20, in threads with nice 0 (the kernel's sched_prio_to_weight).
constexpr long kHighestWeight = 88;

bool schedule_as(int policy, int priority) {
  const sched_param parameter{priority};
  return ::sched_setscheduler(0, policy, &parameter) == 0;
}

bool is_real_time(int policy) {
  return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
}

void leave_real_time() { schedule_as(SCHED_OTHER, 0); }

/// Changes the calling thread alone: on Linux each thread has a nice value of its own (setpriority(2)).
bool set_nice(int nice) { return ::setpriority(PRIO_PROCESS, 0, nice) == 0; }

bool crowded() { return cpus_are_crowded(read_file("/proc/loadavg"), ::sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

bool cpus_are_crowded(std::string_view loadavg, long cpus) {
  // "0.20 0.18 0.12 RUNNABLE/THREADS LAST_PID"
  const std::size_t slash = loadavg.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view number = loadavg.substr(0, slash);
  number.remove_prefix(number.rfind(' ') + 1);
  long runnable = 0;
  std::from_chars(number.data(), number.data() + number.size(), runnable);
  return runnable > kHighestWeight * cpus;
}

Priority::Priority()
    : own_policy_(::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK), own_nice_(::getpriority(PRIO_PROCESS, 0)) {
  if (is_real_time(own_policy_)) {
    highest_ = PriorityLevel::real_time;
    ended_ = true;
    return;
  }
  leave_real_time();  // it leaves SCHED_IDLE as well
  if (set_nice(kHighestNice)) highest_ = PriorityLevel::nice;
  patient();
}

void Priority::urgent() {
  if (ended_ || urgent_ || !schedule_as(SCHED_FIFO, ::sched_get_priority_min(SCHED_FIFO))) return;
  urgent_ = true;
  highest_ = PriorityLevel::real_time;
}

void Priority::patient() {
  if (ended_) return;
  if (crowded()) return urgent();
  if (urgent_) leave_real_time();
  urgent_ = false;
}

bool Priority::was_lowered() const {
  return own_nice_ > 0 || own_policy_ == SCHED_BATCH || own_policy_ == SCHED_IDLE;
}

void Priority::end() {
  if (ended_) return;
  ended_ = true;
  leave_real_time();
  if (crowded()) return;
  set_nice(own_nice_);
  schedule_as(own_policy_, 0);
}

}  // namespace offwait
