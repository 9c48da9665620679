// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/cpu_readings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/read_file.h"

namespace offwait {
namespace {

constexpr Nanos kReadEvery = kSecond;
constexpr std::size_t kAskedAtOnce = 1000;
constexpr std::size_t kMostProcesses = 5;

Nanos time_of_ticks(std::uint64_t ticks) {
  return static_cast<Nanos>(ticks) * (kSecond / ::sysconf(_SC_CLK_TCK));
}

/// The time between two readings of a counter of clock ticks; 0 if it went backwards.
Nanos time_between(std::uint64_t from, std::uint64_t to) { return to < from ? 0 : time_of_ticks(to - from); }

/// The CPUs on which a thread may run; nothing if there is no such thread.
std::optional<CpuList> allowed_cpus(std::int32_t tid) {
  constexpr int kMostCpus = 8192;
  std::array<cpu_set_t, kMostCpus / CPU_SETSIZE> mask{};
  // Unlike the library's function, the call says how much it wrote: as many bits as there may be CPUs.
  const long bytes = ::syscall(SYS_sched_getaffinity, tid, sizeof(mask), mask.data());
  if (bytes < 0) return std::nullopt;
  CpuList cpus;
  for (std::uint32_t cpu = 0; cpu < 8 * static_cast<std::uint32_t>(bytes); ++cpu) {
    if (!CPU_ISSET_S(cpu, sizeof(mask), mask.data())) continue;
    if (!cpus.empty() && cpus.back().last + 1 == cpu) {
      cpus.back().last = cpu;
    } else {
      cpus.push_back({cpu, cpu});
    }
  }
  return cpus;
}

}  // namespace

CpuReadings::CpuReadings() {
  for (const auto& [cpu, ticks] : parse_each_cpu_ticks(read_file("/proc/stat"))) online_.push_back(cpu);
}

void CpuReadings::note(const offwait_thread_record& thread) {
  const ThreadKey key{thread.tid, thread.start_ns};
  if (thread.event == OFFWAIT_THREAD_EXITED) {
    threads_.erase(key);
    return;
  }
  if (thread.outside != OFFWAIT_TARGET) return;
  // A program that binds itself to CPUs often does so just before an exec, which is told, too.
  if (!ask(key)) inherit(key, thread.parent);
  const auto tgid = static_cast<std::int32_t>(thread.tgid);
  threads_.insert_or_assign(key, tgid);
  processes_.insert(tgid);
}

bool CpuReadings::ask(const ThreadKey& thread) {
  std::optional<CpuList> cpus = allowed_cpus(static_cast<std::int32_t>(thread.tid));
  if (!cpus) return false;
  const bool all = std::all_of(online_.begin(), online_.end(),
                               [&cpus](std::uint32_t cpu) { return contains(*cpus, cpu); });
  if (all) {
    allowed_.erase(thread);
  } else {
    allowed_.insert_or_assign(thread, *std::move(cpus));
  }
  return true;
}

/// A thread that has exited before it was asked could use what its parent can.
void CpuReadings::inherit(const ThreadKey& thread, std::uint32_t parent) {
  auto later = allowed_.upper_bound({parent, UINT64_MAX});
  if (parent == 0 || later == allowed_.begin()) return;
  if (const auto& [known, cpus] = *std::prev(later); known.tid == parent) allowed_.emplace(thread, cpus);
}

/// Asks up to `most` threads, beginning behind those asked last.
void CpuReadings::ask_again(std::size_t most) {
  auto thread = threads_.upper_bound(last_asked_);
  for (std::size_t left = std::min(most, threads_.size()); left > 0 && !threads_.empty(); --left) {
    if (thread == threads_.end()) thread = threads_.begin();
    last_asked_ = thread->first;
    thread = ask(last_asked_) ? std::next(thread) : threads_.erase(thread);
  }
}

void CpuReadings::begin() {
  // Reading all processes may take a while on a large machine, so it is done first.
  read_processes_if_older(0);
  stat_at_begin_ = read_file("/proc/stat");
  next_ = monotonic_now() + kReadEvery;
}

void CpuReadings::read_if_due() {
  if (monotonic_now() < next_) return;
  ask_again(kAskedAtOnce);
  next_ = monotonic_now() + kReadEvery;
}

void CpuReadings::add_to(KernelRecording& recording) const {
  end_cpus(recording);
  recording.allowed_cpus = allowed_;
}

void CpuReadings::end(KernelRecording& recording) {
  end_cpus(recording);
  ask_again(threads_.size());
  recording.allowed_cpus = std::move(allowed_);
  add_processes(recording);
}

void CpuReadings::read_processes_if_older(Nanos age) {
  const Nanos now = monotonic_now();
  if (!process_readings_.empty() && now - process_readings_.back().at < age) return;
  process_readings_.push_back({now, read_process_table()});
}

void CpuReadings::forget(Nanos begin, const std::vector<ThreadKey>& threads,
                         const std::vector<std::int32_t>& processes) {
  while (process_readings_.size() > 1 && process_readings_[1].at <= begin) process_readings_.pop_front();
  for (const ThreadKey& thread : threads) allowed_.erase(thread);
  for (const std::int32_t tgid : processes) processes_.erase(tgid);
}

/// Processes of the first reading are still needed: what they used must not be counted as another process's.
void CpuReadings::forget_exited() {
  std::erase_if(allowed_, [this](const auto& one) { return !threads_.contains(one.first); });
  std::unordered_set<std::int32_t> living;
  for (const auto& [thread, tgid] : threads_) living.insert(tgid);
  std::erase_if(processes_, [&](std::int32_t tgid) {
    return !living.contains(tgid) &&
           (process_readings_.empty() || !process_readings_.front().processes.contains(tgid));
  });
}

/// The readings lie further apart than the ends of the window: on a machine whose CPUs are taken, and where
/// the window moves on. What was used between them is reduced to the window.
void CpuReadings::add_processes(KernelRecording& recording) const {
  const auto& [begin, processes_at_begin] = process_readings_.front();
  const Nanos between = std::max<Nanos>(1, monotonic_now() - begin);
  const double part = std::min(1.0, to_seconds(recording.window.length()) / to_seconds(between));
  const auto reduced = [part](std::uint64_t ticks) {
    return static_cast<Nanos>(part * static_cast<double>(time_of_ticks(ticks)));
  };
  for (ProcessUse& use : used_between(processes_at_begin, read_process_table(), processes_, kMostProcesses))
    recording.other_processes.push_back(
        {use.tgid, std::move(use.name), reduced(use.own), reduced(use.children)});
}

void CpuReadings::end_cpus(KernelRecording& recording) const {
  const std::string stat = read_file("/proc/stat");
  const std::optional<CpuTicks> before = parse_cpu_ticks(stat_at_begin_);
  const std::optional<CpuTicks> now = parse_cpu_ticks(stat);
  if (!before || !now) return;
  recording.cpu_busy_ns = time_between(before->busy, now->busy);
  recording.cpu_idle_ns = time_between(before->idle, now->idle);
  recording.cpu_steal_ns = time_between(before->steal, now->steal);
  const std::map<std::uint32_t, CpuTicks> each_before = parse_each_cpu_ticks(stat_at_begin_);
  for (const auto& [cpu, ticks] : parse_each_cpu_ticks(stat)) {
    const auto found = each_before.find(cpu);
    if (found == each_before.end()) continue;
    recording.cpu_times.push_back(
        {cpu, time_between(found->second.busy, ticks.busy), time_between(found->second.idle, ticks.idle)});
  }
}

}  // namespace offwait
