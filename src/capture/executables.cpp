// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/executables.h"

#include <iterator>
#include <optional>
#include <utility>

#include "base/monotonic.h"

namespace offwait {
namespace {

constexpr Nanos kUntilTitled = kSecond / 5;

}  // namespace

std::uint32_t Executables::number_of(const ProcessProgram& program) {
  return numbers_.try_emplace(program, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

std::uint32_t Executables::program_after(const offwait_thread_record& thread, bool exec) {
  if (const std::optional<ProcessProgram> program = read_program(static_cast<std::int32_t>(thread.tgid)))
    return number_of(*program);
  const auto parent = last_program_.find(thread.parent);
  if (exec || parent == last_program_.end()) return number_of({});
  return parent->second;
}

void Executables::note(const offwait_thread_record& thread) {
  if (thread.outside == OFFWAIT_OUTSIDE_KERNEL) return;
  const auto tgid = static_cast<std::int32_t>(thread.tgid);
  const bool main = thread.tid == thread.tgid;
  if (thread.event == OFFWAIT_THREAD_EXITED) {
    last_program_.erase(thread.tid);
    if (main) processes_.erase(tgid);
    return;
  }
  const bool exec = thread.event == OFFWAIT_THREAD_NAMED && thread.exec != 0;
  const bool born = thread.event == OFFWAIT_THREAD_BORN && main;
  const auto [known, added] = processes_.try_emplace(tgid);
  Process& process = known->second;
  if (added || exec || born) {
    process.program = program_after(thread, exec);
    due_.push_back({tgid, monotonic_now() + kUntilTitled});
  }
  const ThreadKey key{thread.tid, thread.start_ns};
  if (main) process.main = key;
  program_of_.insert_or_assign(key, process.program);
  last_program_.insert_or_assign(thread.tid, process.program);
}

void Executables::ask_again(std::int32_t tgid) {
  const auto process = processes_.find(tgid);
  if (process == processes_.end() || process->second.main.tid == 0) return;
  const std::optional<ProcessProgram> program = read_program(tgid);
  if (!program) return;
  process->second.program = number_of(*program);
  program_of_.insert_or_assign(process->second.main, process->second.program);
  last_program_.insert_or_assign(process->second.main.tid, process->second.program);
}

void Executables::read_if_due() {
  const Nanos now = monotonic_now();
  for (; !due_.empty() && due_.front().at <= now; due_.pop_front()) ask_again(due_.front().tgid);
}

void Executables::add_to(KernelRecording& recording) const {
  recording.programs.resize(numbers_.size());
  for (const auto& [program, number] : numbers_) recording.programs[number] = {program.path, program.title};
  recording.program_of.assign(program_of_.begin(), program_of_.end());
}

void Executables::end(KernelRecording& recording) {
  for (const auto& [tgid, process] : processes_) ask_again(tgid);
  add_to(recording);
}

void Executables::forget(const std::vector<ThreadKey>& threads) {
  for (const ThreadKey& thread : threads) program_of_.erase(thread);
  if (!threads.empty()) drop_unused();
}

/// Programs keep their numbers, which the recording has.
void Executables::forget_exited() {
  for (auto thread = program_of_.begin(); thread != program_of_.end();) {
    const auto next = std::next(thread);
    const std::uint32_t tid = thread->first.tid;
    const bool is_last_of_tid = next == program_of_.end() || next->first.tid != tid;
    thread = is_last_of_tid && last_program_.contains(tid) ? next : program_of_.erase(thread);
  }
}

/// Titles are new with each client of some servers.
void Executables::drop_unused() {
  constexpr std::size_t kFew = 1000;
  if (numbers_.size() < 2 * (program_of_.size() + processes_.size()) + kFew) return;
  std::vector<const ProcessProgram*> programs(numbers_.size());
  for (const auto& [program, number] : numbers_) programs[number] = &program;
  std::map<ProcessProgram, std::uint32_t> kept;
  const auto renumber = [&](std::uint32_t& number) {
    number = kept.try_emplace(*programs[number], static_cast<std::uint32_t>(kept.size())).first->second;
  };
  for (auto& [thread, number] : program_of_) renumber(number);
  for (auto& [tgid, process] : processes_) renumber(process.program);
  for (auto& [tid, number] : last_program_) renumber(number);
  numbers_ = std::move(kept);
}

}  // namespace offwait
