// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/half_of_a_cpu.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/monotonic.h"
#include "base/read_file.h"
#include "process/threads.h"

namespace offwait {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};

struct Thread {
  CpuDebt debt;
  bool real_time = false;
  bool seen = true;  ///< by the last look
};

bool schedule_as(pid_t tid, int policy, int priority) {
  const sched_param parameter{priority};
  return ::sched_setscheduler(tid, policy, &parameter) == 0;
}

/// What a thread starts while it is so has SCHED_OTHER. Nothing else in offwait sets this flag.
constexpr int kRealTime = SCHED_FIFO | SCHED_RESET_ON_FORK;

bool make_real_time(pid_t tid) {
  return ::sched_getscheduler(tid) == SCHED_OTHER &&
         schedule_as(tid, kRealTime, ::sched_get_priority_min(SCHED_FIFO));
}

void end_real_time(pid_t tid) {
  if (::sched_getscheduler(tid) == kRealTime) schedule_as(tid, SCHED_OTHER, 0);
}

std::optional<CpuTurn> turn_of(pid_t tid) {
  CpuTurn out;
  out.at = monotonic_now();
  const std::string ran = read_file(fmt::format("/proc/{}/schedstat", tid));
  if (std::from_chars(ran.data(), ran.data() + ran.size(), out.ran).ec != std::errc()) return std::nullopt;
  out.ready = state_of(tid) == 'R';
  return out;
}

/// Threads of this process but the calling one, and the first threads of processes that they have forked. A
/// command that offwait runs has another name.
std::vector<pid_t> threads() {
  std::vector<pid_t> out;
  const pid_t own = ::gettid();
  const std::string name = read_comm(own);
  for (const pid_t tid : numbers_in("/proc/self/task")) {
    if (tid == own) continue;
    out.push_back(tid);
    std::istringstream children(read_file(fmt::format("/proc/self/task/{}/children", tid)));
    for (pid_t child = 0; children >> child;) {
      if (read_comm(child) == name) out.push_back(child);
    }
  }
  return out;
}

void look(std::map<pid_t, Thread>& known) {
  for (auto& [tid, thread] : known) thread.seen = false;
  for (const pid_t tid : threads()) {
    const std::optional<CpuTurn> now = turn_of(tid);
    if (!now) continue;
    Thread& thread = known[tid];
    thread.seen = true;
    thread.debt.look(*now);
    if (thread.debt.is_owed() == thread.real_time) continue;
    if (thread.real_time) {
      end_real_time(tid);
      thread.real_time = false;
    } else {
      thread.real_time = make_real_time(tid);
    }
  }
  std::erase_if(known, [](const auto& one) {
    const auto& [tid, thread] = one;
    if (!thread.seen && thread.real_time) end_real_time(tid);
    return !thread.seen;
  });
}

}  // namespace

void CpuDebt::look(const CpuTurn& now) {
  if (now.ran < before_.ran) *this = {};  // another thread has the number now
  const Nanos ran = now.ran - before_.ran;
  // A thread that runs less than half of the time without waiting has no credit to wait later.
  if (before_.at != 0)
    debt_ns_ = std::max<Nanos>(debt_ns_ + (now.ready ? now.at - before_.at - ran : 0) - ran, 0);
  before_ = now;
}

HalfOfACpu::HalfOfACpu(bool wanted) {
  if (!wanted) return;
  // Signals are for the threads that the process would have without this one.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HalfOfACpu::~HalfOfACpu() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void HalfOfACpu::run() const {
  if (!set_capabilities(own_capabilities().permitted & bit(CAP_SYS_NICE)) ||
      !schedule_as(0, SCHED_FIFO, ::sched_get_priority_min(SCHED_FIFO)))
    return;
  std::map<pid_t, Thread> known;
  while (!ends_) {
    const std::optional<CpuTurn> own = turn_of(::gettid());
    // A kernel that does not count (schedstats) says 0.
    if (own && own->ran > 0) look(known);
    std::this_thread::sleep_for(kBetweenLooks);
  }
  for (const auto& [tid, thread] : known) {
    if (thread.real_time) end_real_time(tid);
  }
}

}  // namespace offwait
