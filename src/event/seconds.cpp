// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/seconds.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "event/classify.h"

namespace offwait {
namespace {

std::string name_in(const offwait_thread_record& record) {
  return {record.comm, ::strnlen(record.comm, sizeof(record.comm))};
}

/// What a counter has grown by, which begins anew when what it counts is forgotten.
template <class Number>
Number grown(Number& before, Number now) {
  const Number more = now >= before ? now - before : Number{0};
  before = now;
  return more;
}

}  // namespace

std::optional<Second> Seconds::add(const KernelRecording& taken, bool has_counters) {
  part_end_ = taken.window.end;
  for (const Rest& rest : std::exchange(rest_, {})) add_interval(rest, 0);
  taken.records.for_each([this](const auto& record) { add(record); });
  if (!has_counters) return std::nullopt;
  return close(taken);
}

void Seconds::add(const offwait_thread_record& record) {
  const auto known = threads_.find(record.tid);
  switch (record.event) {
    case OFFWAIT_THREAD_NAMED:
      if (known == threads_.end()) return;
      known->second.sums.name = name_in(record);
      known->second.sums.outside = record.outside != OFFWAIT_TARGET;
      known->second.recorder = record.outside == OFFWAIT_OUTSIDE_RECORDER;
      return;
    case OFFWAIT_THREAD_EXITED: {
      if (known == threads_.end()) return;
      Thread& thread = known->second;
      thread.sums.times.lived += std::max<Nanos>(0, nanos(record.at_ns) - std::max(begin_, thread.from));
      if (!thread.recorder) exited_.push_back(std::move(thread.sums));
      threads_.erase(known);
      return;
    }
    default: {
      Thread thread;
      thread.sums.tid = static_cast<std::int32_t>(record.tid);
      thread.sums.tgid = static_cast<std::int32_t>(record.tgid);
      thread.sums.name = name_in(record);
      thread.sums.outside = record.outside != OFFWAIT_TARGET;
      thread.recorder = record.outside == OFFWAIT_OUTSIDE_RECORDER;
      thread.start_ns = record.start_ns;
      thread.from = nanos(record.at_ns);
      threads_.insert_or_assign(record.tid, std::move(thread));
    }
  }
}

void Seconds::add(const offwait_wait& record) {
  ++waits_;
  const WaitClass wait_class =
      classify({record.waker_kind, record.fd_kind, record.flags, record.syscall, record.task_state});
  add_interval({record.tid, wait_class, nanos(record.block_ns), nanos(record.wake_ns), nanos(record.run_ns)},
               record.block_ns);
  const auto known = threads_.find(record.tid);
  if (known != threads_.end()) ++known->second.sums.times.waits;
}

void Seconds::add(const offwait_preemption& record) {
  const Nanos out = nanos(record.out_ns);
  add_interval({record.tid, WaitClass::other, out, out, nanos(record.run_ns)}, record.out_ns);
}

void Seconds::add(const offwait_gap& record) {
  const auto known = threads_.find(record.tid);
  if (known == threads_.end()) return;
  known->second.sums.times.unknown +=
      clipped(nanos(record.from_ns), nanos(record.to_ns), {begin_, part_end_});
}

/// `left` is when the thread left its CPU, as the record says.
void Seconds::add_interval(Rest interval, std::uint64_t left) {
  const auto known = threads_.find(interval.tid);
  if (known == threads_.end()) return;
  if (left != 0) known->second.last_left = left;
  add_clipped(known->second, interval);
  // A record that was made between the end of the part and the draining of its buffer.
  if (interval.run > part_end_) rest_.push_back(interval);
}

void Seconds::add_clipped(Thread& thread, const Rest& interval) {
  const Nanos from = std::max(thread.from, begin_);
  const Nanos block = std::clamp(interval.block, from, std::max(from, part_end_));
  const Nanos wake = std::clamp(interval.wake, block, std::max(block, part_end_));
  const Nanos run = std::clamp(interval.run, wake, std::max(wake, part_end_));
  ThreadTimes& times = thread.sums.times;
  times.blocked[static_cast<std::size_t>(interval.wait_class)] += wake - block;
  times.runnable += run - wake;
}

/// A part that ends within a record has counted it up to there.
void Seconds::add_open(std::uint32_t tid, const offwait_thread& open) {
  const auto known = threads_.find(tid);
  if (known == threads_.end() || known->second.start_ns != open.start_ns) return;
  Thread& thread = known->second;
  if (open.since_ns != 0 && thread.last_left >= open.since_ns) return;
  const std::uint8_t state = open.state == OFFWAIT_STATE_UNKNOWN ? open.seeded : open.state;
  const Nanos since = std::max(nanos(open.since_ns), std::max(begin_, thread.from));
  // Its records have been lost, and the record that says so has not come yet.
  if (open.lost_since_ns != 0)
    thread.sums.times.unknown += clipped(nanos(open.lost_since_ns), since, {begin_, part_end_});
  if (state == OFFWAIT_STATE_BLOCKED) {
    const bool woken = open.wake_ns >= open.since_ns && open.wake_ns != 0 && nanos(open.wake_ns) < part_end_;
    WaitFacts facts{OFFWAIT_WAKER_UNKNOWN, open.fd_kind, open.flags, open.syscall, open.task_state};
    if (woken) facts.waker_kind = open.waker_kind;
    add_clipped(thread, {tid, classify(facts), since, woken ? nanos(open.wake_ns) : kNever, kNever});
  } else if (state == OFFWAIT_STATE_RUNNABLE) {
    add_clipped(thread, {tid, WaitClass::other, since, since, kNever});
  } else if (state == OFFWAIT_STATE_UNKNOWN) {
    thread.sums.times.unknown += std::max<Nanos>(0, part_end_ - since);
  }
}

SecondCounts Seconds::counts_of(const KernelRecording& taken) {
  SecondCounts counts;
  counts.cpu_busy = grown(counted_.cpu_busy, taken.cpu_busy_ns);
  counts.cpu_idle = grown(counted_.cpu_idle, taken.cpu_idle_ns);
  counts.cpu_steal = grown(counted_.cpu_steal, taken.cpu_steal_ns);
  counts.programs_cost = grown(counted_.programs_cost, taken.cost.programs_ns);
  counts.recorder_cost = grown(counted_.recorder_cost, taken.cost.recorder_ns);
  std::uint64_t lost = 0;
  for (const auto& [name, count] : taken.loss) lost += count;
  counts.lost = grown(counted_.lost, lost);
  std::map<ResponsesKey, std::uint64_t> responses;
  for (const auto& [key, value] : taken.responses) {
    const auto known = threads_.find(key.tid);
    if (known != threads_.end() && known->second.sums.outside) continue;
    const ResponsesKey place{key.tid, key.start_ns, key.address};
    std::uint64_t before = responses_[place];
    counts.responses =
        counts.responses.value_or(0) + static_cast<double>(grown<std::uint64_t>(before, value.count));
    responses.emplace(place, value.count);
  }
  responses_ = std::move(responses);
  std::map<ThreadKey, std::uint64_t> calls;
  for (const auto& [key, value] : taken.calls) {
    const ThreadKey thread{key.tid, key.start_ns};
    std::uint64_t before = calls_[thread];
    counts.calls = counts.calls.value_or(0) + static_cast<double>(grown<std::uint64_t>(before, value.count));
    calls.emplace(thread, value.count);
  }
  calls_ = std::move(calls);
  return counts;
}

Second Seconds::close(const KernelRecording& taken) {
  for (const auto& [tid, open] : taken.threads) add_open(tid, open);
  Second second;
  second.window = {begin_, part_end_};
  second.waits = std::exchange(waits_, 0);
  second.counts = counts_of(taken);
  second.threads = std::exchange(exited_, {});
  for (auto& [tid, thread] : threads_) {
    const Nanos lived = part_end_ - std::max(begin_, thread.from);
    if (!thread.recorder && lived > 0) {
      thread.sums.times.lived += lived;
      second.threads.push_back(thread.sums);
    }
    thread.sums.times = {};
  }
  begin_ = part_end_;
  return second;
}

}  // namespace offwait
