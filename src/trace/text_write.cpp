// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdio>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "model/validate.h"
#include "trace/lines.h"
#include "trace/text.h"
#include "trace/text_checks.h"
#include "trace/write_fields.h"

namespace offwait {
namespace {

/// Makes lines of the entries of a trace.
class TextWriter {
 public:
  TextWriter(const Trace& trace, const std::vector<TidSpan>& spans, std::FILE* file)
      : trace_(trace), spans_(spans), lines_(trace, file) {
    for (const DiskCapacity& capacity : trace.capacities) disk_capacities_[capacity.disk] = &capacity;
    for (const NicCapacity& capacity : trace.nic_capacities) nic_capacities_[capacity.nic] = &capacity;
  }

  std::optional<Error> write() {
    lines_.header("offwait-waits 1");
    lines_.write(trace_.window);
    write_recording();
    write_actors();
    write_objects();
    write_intervals();
    write_devices();
    return lines_.finish();
  }

 private:
  void write_recording();
  void write_actors();
  void write_thread(const Actor& actor);
  void write_disk(ActorId id);
  void write_nic(ActorId id);
  void write_objects();
  void write_intervals();
  void write_wait(const Wait& wait);
  void write_devices();

  Tid tid_of(ActorId thread) const { return thread == kNoActor ? kNoTid : trace_.actors[thread].tid; }
  NamedWaker named(ActorId waker) const {
    const bool thread = waker != kNoActor && trace_.actors[waker].kind == ActorKind::thread;
    return thread ? NamedWaker{kNoActor, tid_of(waker)} : NamedWaker{waker, kNoTid};
  }
  /// The stack to write: kNoStack for an empty one.
  StackId written(StackId stack) const {
    return stack != kNoStack && trace_.stacks[stack].empty() ? kNoStack : stack;
  }
  bool is_named_parent(const Actor& child) const;

  const Trace& trace_;
  const std::vector<TidSpan>& spans_;
  LineWriter lines_;
  std::unordered_map<ActorId, const DiskCapacity*> disk_capacities_;
  std::unordered_map<ActorId, const NicCapacity*> nic_capacities_;
};

void TextWriter::write_recording() {
  const Recording& recording = trace_.recording;
  if (!recording.target.empty() || !recording.start_time.empty() || !recording.kernel.empty() ||
      !recording.offwait.empty() || recording.cpus != 0 || recording.sample_hz != 0 ||
      recording.command != 0 || recording.recorder != 0 || !recording.host.empty() || recording.interrupted) {
    lines_.write(recording);
  }
  for (const Label& label : recording.labels) {
    lines_.write(label);
  }
  if (recording.cpu_busy_ns != 0 || recording.cpu_idle_ns != 0 || recording.cpu_steal_ns != 0) {
    lines_.write(CpuLine{recording.cpu_busy_ns, recording.cpu_idle_ns, recording.cpu_steal_ns});
  }
  for (const CpuTime& cpu : trace_.cpu_times) {
    lines_.write(cpu);
  }
  for (const CpuQuota& quota : trace_.cpu_quotas) {
    lines_.write(quota);
  }
  for (const MemoryUse& use : trace_.memory) {
    lines_.write(use);
  }
  for (const ProcessCpuTime& process : trace_.other_processes) {
    lines_.write(process);
  }
  if (recording.stack_reuse != StackReuse{}) {
    lines_.write(recording.stack_reuse);
  }
  if (recording.cost != RecordingCost{}) {
    lines_.write(recording.cost);
  }
  if (!trace_.loss.empty()) {
    lines_.write(trace_.loss);
  }
}

/// Whether text can name the child's parent. It cannot if the parent had exited, or if its tid means another
/// thread at the child's birth.
bool TextWriter::is_named_parent(const Actor& child) const {
  if (child.parent == kNoActor) {
    return false;
  }
  const Nanos born = std::max<Nanos>(child.start, 0);
  const Actor& parent = trace_.actors[child.parent];
  return spans_[child.parent].covers(born) && std::max<Nanos>(parent.exit, 0) >= born &&
         parent.tid != child.tid;
}

void TextWriter::write_thread(const Actor& actor) {
  ThreadLine line;
  line.tid = actor.tid;
  line.tgid = actor.tgid;
  line.comm = actor.name;
  line.start = actor.start;
  line.exit = actor.exit;
  line.ns_tid = std::max(actor.ns_tid, kNoTid);
  if (actor.seen >= actor.start && actor.seen != std::max(actor.start, trace_.window.begin)) {
    line.seen = std::max<Nanos>(actor.seen, 0);
  }
  if (actor.outside) {
    line.outside = actor.kernel ? Outside::kernel : actor.recorder ? Outside::recorder : Outside::yes;
  }
  if (is_named_parent(actor)) {
    line.parent = tid_of(actor.parent);
  }
  line.cpus = actor.allowed_cpus;
  line.program = actor.program;
  line.title = actor.title;
  line.lives = actor.lives;
  lines_.write(line);
}

void TextWriter::write_disk(ActorId id) {
  DiskLine line;
  line.disk = id;
  if (const auto found = disk_capacities_.find(id); found != disk_capacities_.end()) {
    const DiskCapacity& capacity = *found->second;
    line.bytes_per_s = capacity.bytes_per_s;
    line.ios_per_s = capacity.ios_per_s;
    line.capacity = capacity.source;
    line.measured_on = capacity.measured_on;
  }
  line.on = trace_.actors[id].on;
  lines_.write(line);
}

void TextWriter::write_nic(ActorId id) {
  NicLine line;
  line.nic = id;
  if (const auto found = nic_capacities_.find(id); found != nic_capacities_.end()) {
    const NicCapacity& capacity = *found->second;
    line.received_per_s = capacity.received_per_s;
    line.sent_per_s = capacity.sent_per_s;
    line.capacity = capacity.source;
  }
  lines_.write(line);
}

void TextWriter::write_actors() {
  for (ActorId id = 0; id < trace_.actors.size(); ++id) {
    switch (trace_.actors[id].kind) {
      case ActorKind::thread:
        write_thread(trace_.actors[id]);
        break;
      case ActorKind::disk:
        write_disk(id);
        break;
      case ActorKind::nic:
        write_nic(id);
        break;
      case ActorKind::timer:
        lines_.write(TimerLine{id});
        break;
      case ActorKind::irq:
        lines_.write(IrqLine{id});
        break;
      case ActorKind::softirq:
        lines_.write(SoftirqLine{id});
        break;
      case ActorKind::group:
        break;  // find_unwritable() has refused it
    }
  }
}

void TextWriter::write_wait(const Wait& wait) {
  const WaitSite& site = trace_.sites[wait.site];
  WaitLine line{wait, site, tid_of(site.thread), named(site.waker), tid_of(wait.holder)};
  line.wait_stack = written(site.wait_stack);
  line.waker_stack = written(site.waker_stack);
  lines_.write(line);
}

void TextWriter::write_objects() {
  for (ObjectId id = 0; id < trace_.objects.size(); ++id) {
    lines_.write(ObjectLine{trace_.objects[id], id});
  }
}

void TextWriter::write_intervals() {
  for (const Wait& wait : trace_.waits) {
    write_wait(wait);
  }
  for (const Preemption& preemption : trace_.preemptions) {
    lines_.write(PreemptLine{preemption, tid_of(preemption.thread)});
  }
  for (const Gap& gap : trace_.gaps) {
    lines_.write(UnknownLine{gap, tid_of(gap.thread)});
  }
  for (const FalseMark& mark : trace_.false_marks) {
    lines_.write(FalseLine{mark, tid_of(mark.thread)});
  }
  for (const CpuSample& sample : trace_.cpu_samples) {
    OnCpuLine line{sample, tid_of(sample.thread)};
    line.stack = written(sample.stack);
    lines_.write(line);
  }
  for (const Responses& responses : trace_.responses) {
    lines_.write(ResponsesLine{responses, tid_of(responses.thread)});
  }
  for (const Calls& calls : trace_.calls) {
    lines_.write(CallsLine{calls, tid_of(calls.thread)});
  }
}

void TextWriter::write_devices() {
  for (const DiskCounters& counters : trace_.disk_counters) {
    lines_.write(counters);
  }
  for (const NicCounters& counters : trace_.nic_counters) {
    lines_.write(counters);
  }
  for (const DiskIo& io : trace_.disk_ios) {
    lines_.write(IoLine{io, tid_of(io.thread)});
  }
}

}  // namespace

Status write_text(const Trace& trace, std::FILE* file) {
  OFFWAIT_TRY_STATUS(validate(trace));
  OFFWAIT_TRY(const std::vector<TidSpan> spans, tid_spans(trace));
  if (std::optional<Error> unwritable = find_unwritable(trace, spans)) {
    return *std::move(unwritable);
  }
  if (std::optional<Error> failed = TextWriter(trace, spans, file).write()) {
    return *std::move(failed);
  }
  return success();
}

}  // namespace offwait
