// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/flight.h"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace offwait {
namespace {

bool begins_life(const offwait_thread_record& record) {
  return record.event == OFFWAIT_THREAD_SEEN || record.event == OFFWAIT_THREAD_BORN ||
         record.event == OFFWAIT_THREAD_ENTERED;
}

ThreadKey key_of(const offwait_thread_record& record) { return {record.tid, record.start_ns}; }

template <class Visit>
void for_each_thread_record(const RecordBuffer& records, Visit visit) {
  records.for_each_kind([&visit](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_thread_record>) visit(record);
  });
}

/// The last reading of each device.
template <class Counters, class Key>
void keep_last(std::vector<Counters>& kept, const std::vector<Counters>& newer, Key key) {
  std::map<decltype(key(newer.front())), Counters> last;
  for (const auto* readings : {&std::as_const(kept), &newer}) {
    for (const Counters& one : *readings) last.insert_or_assign(key(one), one);
  }
  kept.clear();
  for (auto& [device, counters] : last) kept.push_back(std::move(counters));
  std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
}

/// Copies all that is counted from the recording's start on.
void copy_counts(const KernelRecording& from, KernelRecording& to) {
  to.loss = from.loss;
  to.stack_reuse = from.stack_reuse;
  to.cost = from.cost;
  to.cpu_busy_ns = from.cpu_busy_ns;
  to.cpu_idle_ns = from.cpu_idle_ns;
  to.cpu_steal_ns = from.cpu_steal_ns;
  to.cpu_times = from.cpu_times;
  to.cpu_quotas = from.cpu_quotas;
  to.memory = from.memory;
  to.responses = from.responses;
  to.calls = from.calls;
}

/// Both are counters that only grow; one that was reset counts from 0.
template <class Number>
void subtract(Number& number, Number before) {
  if (before <= number) number -= before;
}

void subtract_cpus(KernelRecording& tables, const KernelRecording& before) {
  subtract(tables.cpu_busy_ns, before.cpu_busy_ns);
  subtract(tables.cpu_idle_ns, before.cpu_idle_ns);
  subtract(tables.cpu_steal_ns, before.cpu_steal_ns);
  for (CpuTime& now : tables.cpu_times) {
    for (const CpuTime& then : before.cpu_times) {
      if (then.cpu != now.cpu) continue;
      subtract(now.busy_ns, then.busy_ns);
      subtract(now.idle_ns, then.idle_ns);
    }
  }
  for (CpuQuota& now : tables.cpu_quotas) {
    for (const CpuQuota& then : before.cpu_quotas) {
      if (then.cgroup != now.cgroup) continue;
      subtract(now.periods, then.periods);
      subtract(now.throttled_periods, then.throttled_periods);
      subtract(now.throttled_ns, then.throttled_ns);
      now.periods = std::max(now.periods, now.throttled_periods);
    }
  }
}

void subtract_memory(KernelRecording& tables, const KernelRecording& before) {
  for (MemoryUse& now : tables.memory) {
    for (const MemoryUse& then : before.memory) {
      if (then.cgroup != now.cgroup) continue;
      subtract(now.reached, then.reached);
      subtract(now.refault_bytes, then.refault_bytes);
      subtract(now.swap_bytes, then.swap_bytes);
    }
  }
}

auto order_of(const offwait_responses_key& key) { return std::tuple(key.tid, key.start_ns, key.address); }
auto order_of(const offwait_calls_key& key) { return std::tuple(key.tid, key.start_ns, 0U); }

/// What a thread had counted before the window does not count in it.
template <class Counted, class Subtract>
void subtract_counted(std::vector<Counted>& now, const std::vector<Counted>& before, Subtract subtract_one) {
  std::map<decltype(order_of(now.front().first)), const Counted*> known;
  for (const Counted& one : before) known.emplace(order_of(one.first), &one);
  for (Counted& one : now) {
    const auto found = known.find(order_of(one.first));
    if (found != known.end()) subtract_one(one.second, found->second->second);
  }
  std::erase_if(now, [](const Counted& one) { return one.second.count == 0; });
}

void subtract_counts(KernelRecording& tables, const KernelRecording& before) {
  for (auto& [name, count] : tables.loss) {
    const auto found = before.loss.find(name);
    if (found != before.loss.end()) subtract(count, found->second);
  }
  subtract(tables.stack_reuse.walked, before.stack_reuse.walked);
  subtract(tables.stack_reuse.recalled, before.stack_reuse.recalled);
  subtract(tables.stack_reuse.verified, before.stack_reuse.verified);
  subtract(tables.stack_reuse.wrong, before.stack_reuse.wrong);
  subtract(tables.cost.programs_ns, before.cost.programs_ns);
  subtract(tables.cost.recorder_ns, before.cost.recorder_ns);
  subtract_cpus(tables, before);
  subtract_memory(tables, before);
  subtract_counted(tables.responses, before.responses, [](auto& now, const auto& then) {
    subtract(now.count, then.count);
    subtract(now.connections, then.connections);
    subtract(now.under_way_ns, then.under_way_ns);
    subtract(now.unread_jiffies, then.unread_jiffies);
  });
  subtract_counted(tables.calls, before.calls,
                   [](auto& now, const auto& then) { subtract(now.count, then.count); });
}

std::size_t bytes_of(const KernelRecording& kernel) {
  return kernel.records.bytes() + kernel.responses.size() * sizeof(kernel.responses.front()) +
         kernel.calls.size() * sizeof(kernel.calls.front());
}

}  // namespace

void Flight::add(KernelRecording& taken, bool has_counters) {
  Part part;
  part.has_counters = has_counters;
  part.kernel.window.end = taken.window.end;
  part.kernel.records = std::exchange(taken.records, {});
  part.kernel.files = std::exchange(taken.files, {});
  part.kernel.disk_counters = std::exchange(taken.disk_counters, {});
  part.kernel.nic_counters = std::exchange(taken.nic_counters, {});
  if (has_counters) copy_counts(taken, part.kernel);
  part.mappings = std::exchange(new_mappings_, {});
  bytes_ += bytes_of(part.kernel);
  count_lives(part.kernel.records);
  parts_.push_back(std::move(part));
  if (!has_counters) return;
  drop_old(taken.window.end);
  forget_lost(taken);
}

void Flight::add_mappings(const std::vector<AddressSpace>& changed) {
  new_mappings_.insert(new_mappings_.end(), changed.begin(), changed.end());
}

void Flight::shorten(Nanos length) {
  limits_.length = length;
  if (!parts_.empty()) drop_old(parts_.back().end());
}

void Flight::count_lives(const RecordBuffer& records) {
  for_each_thread_record(records, [this](const offwait_thread_record& record) {
    if (begins_life(record)) ++lives_[static_cast<std::int32_t>(record.tgid)];
  });
}

/// The window begins where a part with counters ended, and never within the last such part.
void Flight::drop_old(Nanos end) {
  for (;;) {
    const auto has_counters = [](const Part& part) { return part.has_counters; };
    const auto first = std::find_if(parts_.begin(), parts_.end(), has_counters);
    if (first == parts_.end() || std::next(first) == parts_.end()) return;
    const bool is_old = first->end() <= end - limits_.length;
    if (!is_old && bytes_ <= limits_.bytes) return;
    if (!is_old) cut_at_ = first->end();
    for (auto left = first - parts_.begin() + 1; left > 0; --left) drop_first();
  }
}

void Flight::drop_first() {
  Part part = std::move(parts_.front());
  parts_.pop_front();
  dropped_ = true;
  bytes_ -= bytes_of(part.kernel);
  for_each_thread_record(part.kernel.records, [this](const auto& record) { pass(record); });
  for (auto& [id, file] : part.kernel.files) before_.files.insert_or_assign(id, std::move(file));
  keep_last(before_.disk_counters, part.kernel.disk_counters, [](const auto& one) { return one.dev; });
  keep_last(before_.nic_counters, part.kernel.nic_counters, [](const auto& one) { return one.name; });
  for (AddressSpace& space : part.mappings) mappings_.insert_or_assign(space.tgid, std::move(space));
  if (!part.has_counters) return;
  before_.window.end = part.end();
  copy_counts(part.kernel, before_);
}

void Flight::pass(const offwait_thread_record& record) {
  const auto known = threads_.find(record.tid);
  if (begins_life(record)) {
    if (known != threads_.end()) forget(known->second);
    threads_.insert_or_assign(record.tid, record);
  } else if (known != threads_.end() && record.event == OFFWAIT_THREAD_NAMED) {
    std::copy(std::begin(record.comm), std::end(record.comm), std::begin(known->second.comm));
    known->second.outside = record.outside;
  } else if (known != threads_.end() && record.event == OFFWAIT_THREAD_EXITED) {
    forget(known->second);
    threads_.erase(known);
  }
}

void Flight::forget(const offwait_thread_record& thread) {
  exited_.threads.push_back(key_of(thread));
  missing_.erase(key_of(thread));
  const auto tgid = static_cast<std::int32_t>(thread.tgid);
  const auto lives = lives_.find(tgid);
  if (lives == lives_.end() || --lives->second > 0) return;
  lives_.erase(lives);
  mappings_.erase(tgid);
  exited_.processes.push_back(tgid);
}

/// Forgets threads whose exit records were lost: the kernel no longer knows them. A thread must have been
/// missing for some time, so that its exit record cannot still be in the window.
void Flight::forget_lost(const KernelRecording& taken) {
  std::map<std::uint32_t, std::uint64_t> living;  // start times
  for (const auto& [tid, thread] : taken.threads) living.emplace(tid, thread.start_ns);
  std::map<ThreadKey, Nanos> missing;
  std::vector<std::uint32_t> lost;
  for (const auto& [tid, thread] : threads_) {
    const auto found = living.find(tid);
    if (found != living.end() && found->second == thread.start_ns) continue;
    const auto before = missing_.find(key_of(thread));
    const Nanos since = before == missing_.end() ? taken.window.end : before->second;
    if (since < window().begin) lost.push_back(tid);
    missing.emplace(key_of(thread), since);
  }
  missing_ = std::move(missing);
  for (const std::uint32_t tid : lost) {
    forget(threads_.at(tid));
    threads_.erase(tid);
  }
}

std::set<std::uint32_t> Flight::stacks() const {
  std::set<std::uint32_t> ids;
  for (const Part& part : parts_) {
    part.kernel.records.for_each_kind([&ids](const auto& record) {
      using Record = std::decay_t<decltype(record)>;
      if constexpr (std::is_same_v<Record, offwait_wait>) {
        ids.insert({record.wait_user, record.wait_kernel, record.waker_user});
        if ((record.flags & OFFWAIT_WAIT_SENT) == 0) ids.insert(record.waker_kernel);
      } else if constexpr (std::is_same_v<Record, offwait_sample>) {
        ids.insert({record.user, record.kernel});
      }
    });
  }
  return ids;
}

/// Parents come before their children, which refer to them.
RecordingPart Flight::part_before() const {
  RecordingPart part;
  std::vector<const offwait_thread_record*> threads;
  for (const auto& [tid, thread] : threads_) threads.push_back(&thread);
  std::stable_sort(threads.begin(), threads.end(),
                   [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; });
  for (const offwait_thread_record* thread : threads)
    part.kernel.records.append(std::as_bytes(std::span(thread, 1)));
  part.kernel.files = before_.files;
  part.kernel.disk_counters = before_.disk_counters;
  part.kernel.nic_counters = before_.nic_counters;
  for (const auto& [tgid, space] : mappings_) part.mappings.push_back(space);
  return part;
}

std::vector<RecordingPart> Flight::take(KernelRecording tables) {
  std::vector<RecordingPart> parts;
  parts.push_back(part_before());
  for (Part& part : parts_) parts.push_back({std::move(part.kernel), false, std::move(part.mappings)});
  parts_.clear();
  tables.window.begin = before_.window.end;
  subtract_counts(tables, before_);
  parts.push_back({std::move(tables), true, std::exchange(new_mappings_, {})});
  return parts;
}

void complete(KernelRecording& tables, const Flight& flight, RecordingSource& source) {
  tables.stacks.clear();
  const std::set<std::uint32_t> ids = flight.stacks();
  for (auto& [id, stack] : source.stacks(std::vector(ids.begin(), ids.end())))
    tables.stacks.emplace(id, stack);
  source.complete(tables);
}

Status write_parts(std::vector<RecordingPart>& parts, RecordingWriter& writer) {
  for (RecordingPart& one : parts) {
    OFFWAIT_TRY_STATUS(writer.write(one));
    one.kernel.records = {};
  }
  return success();
}

}  // namespace offwait
