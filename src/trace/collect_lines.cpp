// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/collect_lines.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "trace/records.h"

namespace offwait {

// ---- lines one by one

bool LineCollector::add(const Window& line) {
  trace_.window = line;
  return true;
}

bool LineCollector::add(const Recording& line) {
  Recording& recording = trace_.recording;
  recording.target = line.target;
  recording.start_time = line.start_time;
  recording.kernel = line.kernel;
  recording.offwait = line.offwait;
  recording.cpus = line.cpus;
  recording.sample_hz = line.sample_hz;
  recording.command = line.command;
  recording.recorder = line.recorder;
  recording.host = line.host;
  recording.interrupted = line.interrupted;
  return true;
}

bool LineCollector::add(const Label& line) {
  trace_.recording.labels.push_back(line);
  return true;
}

bool LineCollector::add(const CpuLine& line) {
  trace_.recording.cpu_busy_ns = line.busy;
  trace_.recording.cpu_idle_ns = line.idle;
  trace_.recording.cpu_steal_ns = line.steal;
  return true;
}

bool LineCollector::add(const CpuTime& line) {
  if (!trace_.cpu_times.empty() && line.cpu <= trace_.cpu_times.back().cpu) {
    return position_.fail("percpu cpu={} after cpu={} (expected ascending numbers)", line.cpu,
                          trace_.cpu_times.back().cpu);
  }
  trace_.cpu_times.push_back(line);
  return true;
}

bool LineCollector::add(const CpuQuota& line) {
  if (line.throttled_periods > line.periods) {
    return position_.fail("throttled={} of periods={} (expected at most as many)", line.throttled_periods,
                          line.periods);
  }
  trace_.cpu_quotas.push_back(line);
  return true;
}

bool LineCollector::add(const MemoryUse& line) {
  trace_.memory.push_back(line);
  return true;
}

bool LineCollector::add(const ProcessCpuTime& line) {
  trace_.other_processes.push_back(line);
  return true;
}

bool LineCollector::add(const StackReuse& line) {
  trace_.recording.stack_reuse = line;
  return true;
}

bool LineCollector::add(const RecordingCost& line) {
  trace_.recording.cost = line;
  return true;
}

bool LineCollector::add(const LossCounts& line) {
  trace_.loss = line;
  return true;
}

bool LineCollector::add(const ThreadLine& line) {
  Actor actor;
  actor.name = line.comm;
  actor.tid = line.tid;
  actor.tgid = line.tgid;
  actor.ns_tid = line.ns_tid;
  actor.start = line.start;
  actor.exit = line.exit;
  actor.seen =
      line.seen == ThreadLine::kSeenByDefault ? std::max(line.start, trace_.window.begin) : line.seen;
  actor.outside = line.outside != Outside::no;
  actor.kernel = line.outside == Outside::kernel;
  actor.recorder = line.outside == Outside::recorder;
  actor.allowed_cpus = line.cpus;
  actor.program = line.program;
  actor.title = line.title;
  actor.lives = line.lives;
  const auto id = static_cast<ActorId>(trace_.actors.size());
  if (const Life* other = builder_.lives_of(line.tid).add({line.start, line.exit, id})) {
    return position_.fail("thread {} lives in {}, but another thread line has it live in {}", line.tid,
                          span_text(line.start, line.exit), span_text(other->start, other->exit));
  }
  if (line.parent != kNoTid) {
    pending_parents_.push_back({id, here(line.parent)});
  }
  builder_.add_actor(std::move(actor));
  return true;
}

bool LineCollector::add(const DiskLine& line) {
  trace_.actors[line.disk].on = line.on;
  if (line.capacity) {
    trace_.capacities.push_back(
        {line.disk, line.bytes_per_s, line.ios_per_s, *line.capacity, line.measured_on});
  }
  return true;
}

bool LineCollector::add(const NicLine& line) {
  if (line.capacity) {
    trace_.nic_capacities.push_back({line.nic, line.received_per_s, line.sent_per_s, *line.capacity});
  }
  return true;
}

bool LineCollector::add(const ObjectLine& line) {
  const auto [known, added] = objects_.try_emplace(line.number, kNoObject);
  if (!added) return position_.fail("object {} twice", line.number);
  known->second = builder_.object(line);
  return true;
}

bool LineCollector::resolve_object(ObjectId& object) {
  if (object == kNoObject) return true;
  const auto known = objects_.find(object);
  if (known == objects_.end()) {
    return position_.fail("object {} has no line before this one", object);
  }
  object = known->second;
  return true;
}

bool LineCollector::add(const WaitLine& line) {
  Wait wait = line;
  if (line.futex_hash != 0) {
    const auto [known, added] = hashed_futexes_.try_emplace(line.futex_hash, kNoObject);
    if (added) {
      Object futex;
      futex.hash = line.futex_hash;
      known->second = builder_.object(futex);
    }
    wait.object = known->second;
  } else if (!resolve_object(wait.object)) {
    return false;
  }
  PendingWait pending{trace_.waits.size(), line, line.tid, line.woken_by.tid, line.holder_tid};
  if (const Life* life = life_at(line.tid, line.block); life != nullptr && life->covers_to(line.run)) {
    pending.site.thread = life->actor;
    pending.tid = kNoTid;
  }
  pending.site.waker = line.woken_by.device;
  if (pending.waker_tid != kNoTid) {
    if (const Life* life = life_at(pending.waker_tid, line.wake)) {
      pending.site.waker = life->actor;
      pending.waker_tid = kNoTid;
    }
  }
  if (pending.holder_tid != kNoTid) {
    if (const Life* life = life_at(pending.holder_tid, std::max(line.block, trace_.window.begin))) {
      wait.holder = life->actor;
      pending.holder_tid = kNoTid;
    }
  }
  if (pending.tid == kNoTid && pending.waker_tid == kNoTid && pending.holder_tid == kNoTid) {
    wait.site = builder_.site(pending.site);
  } else {
    pending_waits_.push_back(pending);
  }
  trace_.waits.push_back(wait);
  wait_lines_.push_back(position_.line);
  return true;
}

bool LineCollector::add(const PreemptLine& line) {
  trace_.preemptions.push_back(line);
  preempt_lines_.push_back(here(line.tid));
  return true;
}

bool LineCollector::add(const UnknownLine& line) {
  trace_.gaps.push_back(line);
  unknown_lines_.push_back(here(line.tid));
  return true;
}

bool LineCollector::add(const FalseLine& line) {
  trace_.false_marks.push_back(line);
  false_lines_.push_back(here(line.tid));
  return true;
}

bool LineCollector::add(const OnCpuLine& line) {
  trace_.cpu_samples.push_back(line);
  on_cpu_lines_.push_back(here(line.tid));
  return true;
}

bool LineCollector::add(const ResponsesLine& line) {
  trace_.responses.push_back(line);
  responses_lines_.push_back(here(line.tid));
  return true;
}

bool LineCollector::add(const CallsLine& line) {
  trace_.calls.push_back(line);
  calls_lines_.push_back(here(line.tid));
  return true;
}

bool LineCollector::add(const DiskCounters& line) {
  trace_.disk_counters.push_back(line);
  return true;
}

bool LineCollector::add(const NicCounters& line) {
  trace_.nic_counters.push_back(line);
  return true;
}

bool LineCollector::add(const IoLine& line) {
  DiskIo io = line;
  if (!resolve_object(io.file)) return false;
  if (io.file != kNoObject && !is_stored(trace_.objects[io.file])) {
    return position_.fail("file {} is a {} (expected a file, a journal or metadata)", line.file,
                          to_string(trace_.objects[io.file].kind));
  }
  if (line.tid != kNoTid) {
    if (const Life* life = life_at(line.tid, io.issue)) {
      io.thread = life->actor;
    } else {
      pending_ios_.push_back({trace_.disk_ios.size(), here(line.tid)});
    }
  }
  trace_.disk_ios.push_back(io);
  return true;
}

// ---- when all lines are known

bool LineCollector::finish() {
  return resolve_waits() && resolve_preempts() && resolve_unknowns() && resolve_false() &&
         resolve_cpu_samples() && resolve_responses() && resolve_calls() && resolve_ios() &&
         resolve_parents() && check_order();
}

const Life* LineCollector::life_at(Tid tid, Nanos at) const {
  const TidLives* lives = builder_.find_lives(tid);
  const Life* life = lives == nullptr ? nullptr : lives->born_by(at);
  return life != nullptr && life->alive_at(at) ? life : nullptr;
}

ActorId LineCollector::implicit_thread(Tid tid, Nanos at) {
  const auto [known, added] = implicit_threads_.try_emplace(tid, kNoActor);
  if (added) {
    Actor actor;
    actor.tid = tid;
    actor.start = trace_.window.begin;
    actor.seen = trace_.window.end;
    known->second = builder_.add_actor(std::move(actor));
  }
  Actor& actor = trace_.actors[known->second];
  actor.start = std::min(actor.start, at);
  return known->second;
}

bool LineCollector::thread_during(std::string_view record, TidLine from, Nanos begin, Nanos end,
                                  ActorId& out) {
  const auto fail = [&](std::string_view why) {
    return position_.fail_at(
        from.line, fmt::format("{} {} of thread {}{}", record, span_text(begin, end), from.tid, why));
  };
  const TidLives& lives = builder_.lives_of(from.tid);
  if (lives.empty()) {
    return position_.fail_at(from.line,
                             fmt::format("{} of tid {}, which has no thread line", record, from.tid));
  }
  const Life* life = lives.born_by(begin);
  if (life == nullptr) {
    return fail(", which was not born yet");
  }
  if (begin > life->exit || !life->covers_to(end)) {
    return fail(" does not lie inside its lifetime " + span_text(life->start, life->exit));
  }
  out = life->actor;
  return true;
}

bool LineCollector::thread_born_by(std::string_view record, TidLine from, Nanos at, ActorId& out) {
  const TidLives& lives = builder_.lives_of(from.tid);
  if (lives.empty()) {
    out = implicit_thread(from.tid, at);
    return true;
  }
  const Life* life = lives.born_by(at);
  if (life == nullptr) {
    return position_.fail_at(from.line,
                             fmt::format("{} thread {} was not born yet at {}", record, from.tid, at));
  }
  out = life->actor;
  return true;
}

bool LineCollector::resolve_waits() {
  for (PendingWait& pending : pending_waits_) {
    Wait& wait = trace_.waits[pending.wait];
    const std::uint32_t line = wait_lines_[pending.wait];
    if (pending.tid != kNoTid && !thread_during(RecordForm<WaitLine>::kName, {line, pending.tid}, wait.block,
                                                wait.run, pending.site.thread)) {
      return false;
    }
    if (pending.waker_tid != kNoTid &&
        !thread_born_by("waker", {line, pending.waker_tid}, wait.wake, pending.site.waker)) {
      return false;
    }
    if (pending.holder_tid != kNoTid &&
        !thread_born_by("holder", {line, pending.holder_tid}, std::max(wait.block, trace_.window.begin),
                        wait.holder)) {
      return false;
    }
    wait.site = builder_.site(pending.site);
  }
  return true;
}

bool LineCollector::resolve_preempts() {
  for (std::size_t i = 0; i < preempt_lines_.size(); ++i) {
    const TidLine from = preempt_lines_[i];
    Preemption& preemption = trace_.preemptions[i];
    if (!builder_.lives_of(from.tid).empty()) {
      if (!thread_during(RecordForm<PreemptLine>::kName, from, preemption.out, preemption.run,
                         preemption.thread)) {
        return false;
      }
      continue;
    }
    preemption.thread = implicit_thread(from.tid, preemption.out);
    Actor& actor = trace_.actors[preemption.thread];
    actor.seen = std::max(std::min(actor.seen, preemption.out), trace_.window.begin);
  }
  return true;
}

bool LineCollector::resolve_unknowns() {
  for (std::size_t i = 0; i < unknown_lines_.size(); ++i) {
    Gap& gap = trace_.gaps[i];
    if (!thread_during(RecordForm<UnknownLine>::kName, unknown_lines_[i], gap.from, gap.to, gap.thread)) {
      return false;
    }
  }
  return true;
}

bool LineCollector::resolve_false() {
  constexpr std::string_view kName = RecordForm<FalseLine>::kName;
  std::vector<Nanos> last(trace_.actors.size(), 0);
  for (std::size_t i = 0; i < false_lines_.size(); ++i) {
    const TidLine from = false_lines_[i];
    FalseMark& mark = trace_.false_marks[i];
    if (!thread_during(kName, from, mark.at, mark.at, mark.thread)) {
      return false;
    }
    if (mark.at < last[mark.thread]) {
      return position_.fail_at(
          from.line, fmt::format("{} lines of thread {} must be in order of time", kName, from.tid));
    }
    last[mark.thread] = mark.at;
  }
  return true;
}

bool LineCollector::resolve_cpu_samples() {
  for (std::size_t i = 0; i < on_cpu_lines_.size(); ++i) {
    CpuSample& sample = trace_.cpu_samples[i];
    if (!thread_born_by(RecordForm<OnCpuLine>::kName, on_cpu_lines_[i], sample.at, sample.thread)) {
      return false;
    }
  }
  return true;
}

bool LineCollector::resolve_responses() {
  for (std::size_t i = 0; i < responses_lines_.size(); ++i) {
    Responses& responses = trace_.responses[i];
    if (!thread_born_by(RecordForm<ResponsesLine>::kName, responses_lines_[i], responses.last,
                        responses.thread)) {
      return false;
    }
  }
  return true;
}

bool LineCollector::resolve_calls() {
  for (std::size_t i = 0; i < calls_lines_.size(); ++i) {
    Calls& calls = trace_.calls[i];
    if (!thread_born_by(RecordForm<CallsLine>::kName, calls_lines_[i], calls.last, calls.thread)) {
      return false;
    }
  }
  return true;
}

bool LineCollector::resolve_ios() {
  return std::all_of(pending_ios_.begin(), pending_ios_.end(), [&](const PendingIo& pending) {
    DiskIo& io = trace_.disk_ios[pending.io];
    return thread_born_by(RecordForm<IoLine>::kName, pending.from, io.issue, io.thread);
  });
}

bool LineCollector::resolve_parents() {
  return std::all_of(pending_parents_.begin(), pending_parents_.end(), [&](const PendingParent& pending) {
    Actor& child = trace_.actors[pending.child];
    return thread_during("child", pending.parent, child.start, child.start, child.parent);
  });
}

std::uint32_t LineCollector::line_of(const Interval& interval) const {
  switch (interval.kind) {
    case Interval::Kind::wait:
      return wait_lines_[interval.index];
    case Interval::Kind::preemption:
      return preempt_lines_[interval.index].line;
    case Interval::Kind::gap:
      break;
  }
  return unknown_lines_[interval.index].line;
}

/// Checks for overlaps. The lifetimes were checked when the threads were found.
bool LineCollector::check_order() {
  const std::optional<OrderFault> fault = find_order_fault(trace_);
  if (!fault) {
    return true;
  }
  const auto text = [](const Interval& interval) {
    // By Interval::Kind.
    static constexpr std::array<std::string_view, 3> kRecords{
        RecordForm<WaitLine>::kName, RecordForm<PreemptLine>::kName, RecordForm<UnknownLine>::kName};
    return fmt::format("{} {}", kRecords.at(static_cast<std::size_t>(interval.kind)),
                       span_text(interval.from, interval.to));
  };
  return position_.fail_at(
      line_of(fault->interval),
      fmt::format("{} of thread {} begins before its {} of line {} ends (they must be in order of time and "
                  "must not overlap)",
                  text(fault->interval), trace_.actors[fault->thread].tid, text(fault->previous),
                  line_of(fault->previous)));
}

}  // namespace offwait
