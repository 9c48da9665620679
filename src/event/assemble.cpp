// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/assemble.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "event/devices.h"
#include "event/files.h"
#include "event/joined_stacks.h"
#include "event/left_out_stacks.h"
#include "event/losses.h"
#include "event/spin.h"
#include "event/thread_lives.h"
#include "event/waits.h"
#include "model/trace_builder.h"

namespace offwait {
namespace {

/// The trace with nothing in it but how the recording was made.
void add_recording(const KernelRecording& recording, Trace& trace) {
  trace.window = recording.window;
  trace.recording.cpu_busy_ns = recording.cpu_busy_ns;
  trace.recording.cpu_idle_ns = recording.cpu_idle_ns;
  trace.recording.cpu_steal_ns = recording.cpu_steal_ns;
  trace.cpu_times = recording.cpu_times;
  trace.cpu_quotas = recording.cpu_quotas;
  trace.memory = recording.memory;
  trace.other_processes = recording.other_processes;
  trace.recording.sample_hz = recording.sample_hz;
  trace.recording.recorder = static_cast<std::int32_t>(recording.recorder);
  const offwait_stack_reuse& reuse = recording.stack_reuse;
  trace.recording.stack_reuse = {reuse.walked, reuse.recalled, reuse.verified, reuse.wrong};
  trace.recording.cost = recording.cost;
  trace.loss = no_losses();
  for (const auto& [name, count] : recording.loss) trace.loss[name] += count;
}

/// Adds what each record says, in the order of the records, and then what the kernel's table says at the end.
class Assembler {
 public:
  Assembler(const KernelRecording& recording, const NamedStacks& stacks, TraceBuilder& builder,
            std::size_t most_single)
      : recording_(recording),
        builder_(builder),
        trace_(builder.trace()),
        begin_(recording.window.begin),
        end_(recording.window.end),
        lives_(recording, builder, most_single),
        devices_(recording, builder),
        stacks_(stacks, builder),
        files_(recording, builder),
        waits_(recording, builder, lives_, devices_, stacks_, files_) {}

  // One for each kind of record.
  void add(const offwait_wait& record) { waits_.add(record); }
  void add(const offwait_preemption& record);
  void add(const offwait_gap& record);
  void add(const offwait_false_mark& record);
  void add(const offwait_sample& record);
  void add(const offwait_spin& record);
  void add(const offwait_thread_record&) {}  // ThreadLives has collected them
  void add(const offwait_file&) {}           // KernelRecording::files has them

  const ThreadLives& lives() const { return lives_; }

  /// What a thread is doing at the end.
  void add_left(std::uint32_t tid, const offwait_thread& thread);
  /// After all records and threads.
  void finish_threads();
  void add_devices_elsewhere();
  void add_devices(const RecordBuffer& records);
  void add_responses(const KernelRecording& recording);
  void add_calls(const KernelRecording& recording);

 private:
  void add_found_running(const Life& life, const offwait_thread& thread, Nanos since, Nanos left);
  void lose_record(Nanos at) { count_loss_at(at, recording_, trace_.loss, OFFWAIT_LOSS_record_invalid); }

  const KernelRecording& recording_;
  TraceBuilder& builder_;
  Trace& trace_;
  const Nanos begin_;
  const Nanos end_;
  ThreadLives lives_;
  Devices devices_;
  JoinedStacks stacks_;
  Files files_;
  Waits waits_;
  std::vector<Spin> spins_;
};

void Assembler::add(const offwait_preemption& record) {
  Preemption preemption;
  const Life* life = lives_.place(record.tid, record.out_ns, record.run_ns, preemption.out);
  if (life == nullptr) return;
  preemption.thread = life->actor;
  preemption.run = nanos(record.run_ns);
  lives_.end_interval(*life, preemption.run);
  trace_.preemptions.push_back(preemption);
}

void Assembler::add(const offwait_gap& record) {
  Gap gap;
  const Life* life = lives_.place(record.tid, record.from_ns, record.to_ns, gap.from);
  if (life == nullptr) return;
  gap.thread = life->actor;
  gap.to = nanos(record.to_ns);
  lives_.end_interval(*life, gap.to);
  trace_.gaps.push_back(gap);
}

void Assembler::add(const offwait_false_mark& record) {
  const Nanos at = nanos(record.at_ns);
  if (at < begin_ || at >= end_) return;
  if (const Life* life = lives_.life_at(record.tid, at)) trace_.false_marks.push_back({life->actor, at});
}

void Assembler::add(const offwait_sample& record) {
  const Nanos at = nanos(record.at_ns);
  if (at < begin_ || at >= end_) return;
  const Life* life = lives_.life_at(record.tid, at);
  if (life == nullptr) return lose_record(at);
  trace_.cpu_samples.push_back({life->actor, stacks_.of(record), at});
}

void Assembler::add(const offwait_spin& record) {
  const Nanos end = nanos(record.end_ns);
  // One that reaches past the window's end would have to be open, and the thread runs.
  if (end <= begin_ || end >= end_ || record.begin_ns > record.end_ns) return;
  const Life* life = lives_.life_at(record.tid, end);
  if (life == nullptr) return lose_record(end);
  Spin spin;
  spin.thread = life->actor;
  spin.waker = waits_.waker(OFFWAIT_WAKER_THREAD, record.waker, end);
  spin.begin = std::max(nanos(record.begin_ns), life->start);
  spin.end = end;
  if (record.frames > 0) spin.stack = stacks_.of(record);
  spins_.push_back(spin);
}

void Assembler::add_left(std::uint32_t tid, const offwait_thread& thread) {
  // In a recording that was interrupted the table may be older than the last records.
  if (const Life* life = lives_.life_at(tid, end_); life != nullptr && lives_.is_complete(*life)) return;
  if (thread.lost_since_ns != 0 && nanos(thread.lost_since_ns) < end_) {
    offwait_gap gap{};
    gap.tid = tid;
    gap.from_ns = thread.lost_since_ns == OFFWAIT_LOST_SINCE_BEGIN ? 0 : thread.lost_since_ns;
    gap.to_ns = std::max(thread.since_ns, thread.lost_since_ns);
    add(gap);
  }
  const std::uint8_t state = thread.state == OFFWAIT_STATE_UNKNOWN ? thread.seeded : thread.state;
  if (state == OFFWAIT_STATE_RUNNING) return;
  Nanos since = 0;
  const Life* life = lives_.place(tid, thread.since_ns, static_cast<std::uint64_t>(end_), since);
  if (life == nullptr) return;
  const Nanos left = state == OFFWAIT_STATE_BLOCKED ? std::max(nanos(thread.wake_ns), since) : since;
  if (nanos(thread.ran_ns) > left && nanos(thread.ran_ns) < end_)
    return add_found_running(*life, thread, since, left);
  lives_.leave_open(*life);
  switch (state) {
    case OFFWAIT_STATE_BLOCKED:
      waits_.add_left(*life, thread, {0, kNoObject, since, kNever, kNever});
      break;
    case OFFWAIT_STATE_RUNNABLE:
      trace_.preemptions.push_back({life->actor, since, kNever});
      break;
    default:
      trace_.gaps.push_back({life->actor, since, end_});
      break;
  }
}

/// The table says that the thread left its CPU, but a probe found it running since: it was switched in
/// unseen, after `left`.
void Assembler::add_found_running(const Life& life, const offwait_thread& thread, Nanos since, Nanos left) {
  if (thread.state == OFFWAIT_STATE_BLOCKED && thread.wake_ns != 0) {
    waits_.add_left(life, thread, {0, kNoObject, since, left, left});
  }
  const Nanos ran = nanos(thread.ran_ns);
  lives_.end_interval(life, ran);
  trace_.gaps.push_back({life.actor, left, ran});
}

void Assembler::finish_threads() {
  lives_.finish_relays();
  for (const Gap& gap : lives_.lost_exits()) trace_.gaps.push_back(gap);
  if (!spins_.empty()) {
    overlay_spins(trace_, std::move(spins_),
                  [this](const WaitSite& wanted) { return builder_.site(wanted); });
  }
  drop_impossible_wakers(builder_);
}

void Assembler::add_devices_elsewhere() {
  for (const auto& [kind, id] : recording_.devices_elsewhere) waits_.waker(kind, id, end_);
}

void Assembler::add_devices(const RecordBuffer& records) {
  records.for_each([this](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_io>)
      devices_.add_io(record, lives_, files_);
  });
  devices_.add_counters();
  add_files_of_requests(trace_);
}

/// A file's path ends at its zero; another name may contain zeros.
std::string path_of(const offwait_unix_address& address) {
  const std::string path(address.path, std::min<std::size_t>(address.length, sizeof(address.path)));
  const std::size_t zero = path.find('\0');
  return zero == 0 ? path : path.substr(0, zero);
}

/// How long a tick of the kernel's clock takes; 0 if it did not tick between responses.
double tick_ns(const KernelRecording& recording) {
  double ns = 0;
  double ticks = 0;
  for (const auto& [key, counted] : recording.responses) {
    ns += static_cast<double>(counted.last_ns) - static_cast<double>(counted.first_ns);
    ticks += static_cast<double>(counted.last_jiffies) - static_cast<double>(counted.first_jiffies);
  }
  return ticks > 0 && ns > 0 ? ns / ticks : 0;
}

void Assembler::add_responses(const KernelRecording& recording) {
  constexpr double kMostRequests = 1e6;  // at a time: no recording has more
  const double most = kMostRequests * static_cast<double>(end_ - begin_);
  const auto sum = [most](double ns) { return static_cast<Nanos>(std::clamp(ns, 0.0, most)); };
  const double tick = tick_ns(recording);
  for (const auto& [key, counted] : recording.responses) {
    Responses responses;
    if ((key.address & OFFWAIT_UNIX_ADDRESS) == 0) {
      responses.port = static_cast<std::uint16_t>(key.address);
    } else if (const auto address = recording.unix_addresses.find(key.address);
               address != recording.unix_addresses.end()) {
      responses.path = path_of(address->second);
    }
    responses.count = counted.count;
    responses.connections = counted.connections;
    // The programs are attached a moment longer than the window.
    responses.last = std::clamp(nanos(counted.last_ns), begin_, end_);
    responses.first = std::clamp(nanos(counted.first_ns), begin_, responses.last);
    responses.under_way = sum(static_cast<double>(counted.under_way_ns));
    responses.unread = sum(tick * static_cast<double>(counted.unread_jiffies));
    const Life* life = lives_.life_at(key.tid, responses.last);
    const bool has_address = responses.port != 0 || !responses.path.empty();
    if (life == nullptr || !has_address || counted.count == 0 || counted.connections > counted.count) {
      lose_record(responses.last);
      continue;
    }
    responses.thread = life->actor;
    trace_.responses.push_back(std::move(responses));
  }
  std::sort(trace_.responses.begin(), trace_.responses.end(), [](const Responses& a, const Responses& b) {
    return std::tie(a.thread, a.port, a.path) < std::tie(b.thread, b.port, b.path);
  });
}

void Assembler::add_calls(const KernelRecording& recording) {
  for (const auto& [key, counted] : recording.calls) {
    Calls calls;
    calls.function = recording.counted_function;
    calls.count = counted.count;
    calls.last = std::clamp(nanos(counted.last_ns), begin_, end_);
    calls.first = std::clamp(nanos(counted.first_ns), begin_, calls.last);
    const Life* life = lives_.life_at(key.tid, calls.last);
    if (life == nullptr || counted.count == 0) {
      lose_record(calls.last);
      continue;
    }
    calls.thread = life->actor;
    trace_.calls.push_back(std::move(calls));
  }
  std::sort(trace_.calls.begin(), trace_.calls.end(),
            [](const Calls& a, const Calls& b) { return a.thread < b.thread; });
}

/// Short-lived threads that follow each other are one here, too: their waits are alike.
LeftOutStacks::Threads threads_of(const offwait_wait& record, const ThreadLives& lives) {
  const bool by_thread = record.waker_kind == OFFWAIT_WAKER_THREAD;
  return {lives.number_of(record.tid, nanos(record.run_ns)),
          by_thread ? lives.number_of(record.waker_id, nanos(record.wake_ns)) : record.waker_id};
}

/// Notes the waits whose stacks may have been left out. Most recordings have none.
LeftOutStacks noted(const RecordBuffer& records, const ThreadLives& lives) {
  LeftOutStacks left_out;
  if (!records.has_draws()) return left_out;
  records.for_each([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
      if (record.draw != 0) left_out.note(record, threads_of(record, lives));
    }
  });
  return left_out;
}

/// records(prepare, visit) calls both with each record of the recording, once.
template <class Records>
Trace assembled(const KernelRecording& recording, const NamedStacks& stacks, std::size_t most_single,
                Records records) {
  TraceBuilder builder;
  add_recording(recording, builder.trace());
  Assembler assembler(recording, stacks, builder, most_single);
  LeftOutStacks left_out = noted(recording.records, assembler.lives());
  if (left_out.waits_without_stacks() != 0) {
    RecordingCost& cost = builder.trace().recording.cost;
    cost.waits_with_stacks = left_out.waits_with_stacks();
    cost.waits_without_stacks = left_out.waits_without_stacks();
  }
  // A wait for a packet that was sent becomes two, and relays wait for births.
  builder.trace().waits.reserve(recording.records.count(OFFWAIT_RECORD_WAIT) +
                                recording.records.sent_waits() + recording.threads.size() +
                                assembler.lives().births());
  builder.trace().preemptions.reserve(recording.records.count(OFFWAIT_RECORD_PREEMPTION) +
                                      recording.threads.size());
  RecordBuffer requests;  // which disks there are is only known after all waits
  const auto fill = [&]<class Record>(Record& record) {
    if constexpr (std::is_same_v<Record, offwait_wait>) {
      if (record.draw != 0) left_out.fill(record, threads_of(record, assembler.lives()));
    }
  };
  const auto add = [&]<class Record>(const Record& record) {
    if constexpr (std::is_same_v<Record, offwait_io>) {
      requests.append(std::as_bytes(std::span(&record, 1)));
    } else {
      assembler.add(record);
    }
  };
  records(fill, add);
  for (const auto& [tid, thread] : recording.threads) assembler.add_left(tid, thread);
  assembler.add_devices_elsewhere();
  assembler.finish_threads();
  assembler.add_devices(requests);
  assembler.add_responses(recording);
  assembler.add_calls(recording);
  return builder.take();
}

}  // namespace

Trace assemble(const KernelRecording& recording, const NamedStacks& stacks, std::size_t most_single) {
  return assembled(recording, stacks, most_single, [&](const auto& prepare, const auto& visit) {
    recording.records.for_each([&](auto record) {
      prepare(record);
      visit(record);
    });
  });
}

Trace assemble(KernelRecording&& recording, const NamedStacks& stacks) {
  return assembled(recording, stacks, kMostSingleThreads, [&](const auto& prepare, const auto& visit) {
    recording.records.take_each(prepare, visit);
  });
}

}  // namespace offwait
