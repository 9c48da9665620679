// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/half_of_a_cpu.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/read_file.h"

namespace offwait {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};

struct Thread {
  CpuDebt debt;
  bool real_time = false;
  bool seen = true;  ///< by the last look
};

/// Gives up all capabilities of the calling thread but CAP_SYS_NICE.
bool keep_only_nice() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  const __u32 nice = data[0].permitted & (1U << CAP_SYS_NICE);
  data = {};
  data[0].effective = data[0].permitted = nice;
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

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

struct Seen {
  CpuTurn turn;
  std::string name;
};

std::optional<Seen> look_at(pid_t tid) {
  Seen out;
  out.turn.at = monotonic_now();
  const std::string ran = read_file(fmt::format("/proc/{}/schedstat", tid));
  if (std::from_chars(ran.data(), ran.data() + ran.size(), out.turn.ran).ec != std::errc())
    return std::nullopt;
  const std::string stat = read_file(fmt::format("/proc/{}/stat", tid));
  const std::size_t begin = stat.find('(');
  const std::size_t state = stat.rfind(") ");  // the name before it may have any bytes
  if (begin == std::string::npos || state == std::string::npos || state < begin) return std::nullopt;
  out.turn.ready = stat.substr(state + 2, 1) == "R";
  out.name = stat.substr(begin + 1, state - begin - 1);
  return out;
}

/// Adds the numbers of a list with a space after each.
void add_numbers(std::string_view list, std::vector<pid_t>& out) {
  const char* const end = list.data() + list.size();
  pid_t number = 0;
  for (const char* at = list.data(); at < end; ++at) {
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc()) return;
    out.push_back(number);
    at = read.ptr;
  }
}

/// Threads of this process but the calling one, and the first threads of processes that they have started.
std::vector<pid_t> threads() {
  std::vector<pid_t> out;
  const pid_t own = ::gettid();
  std::error_code gone;
  for (std::filesystem::directory_iterator task("/proc/self/task", gone), end; !gone && task != end;
       task.increment(gone)) {
    const std::string name = task->path().filename().string();
    pid_t tid = 0;
    std::from_chars(name.data(), name.data() + name.size(), tid);
    if (tid == 0 || tid == own) continue;
    out.push_back(tid);
    add_numbers(read_file(fmt::format("/proc/self/task/{}/children", tid)), out);
  }
  return out;
}

void look(std::map<pid_t, Thread>& known, const std::string& own_name) {
  for (auto& [tid, thread] : known) thread.seen = false;
  for (const pid_t tid : threads()) {
    const std::optional<Seen> now = look_at(tid);
    // A command that offwait runs has another name than what offwait forked.
    if (!now || now->name != own_name) continue;
    Thread& thread = known[tid];
    thread.seen = true;
    thread.debt.look(now->turn);
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
  if (!keep_only_nice() || !schedule_as(0, SCHED_FIFO, ::sched_get_priority_min(SCHED_FIFO))) return;
  std::map<pid_t, Thread> known;
  while (!ends_) {
    const std::optional<Seen> own = look_at(::gettid());
    // A kernel that does not count (schedstats) says 0.
    if (own && own->turn.ran > 0) look(known, own->name);
    std::this_thread::sleep_for(kBetweenLooks);
  }
  for (const auto& [tid, thread] : known) {
    if (thread.real_time) end_real_time(tid);
  }
}

}  // namespace offwait
