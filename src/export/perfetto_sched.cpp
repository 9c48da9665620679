// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/perfetto_sched.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/escape.h"
#include "export/sched_events.h"
#include "export/stack_frames.h"
#include "report/fold.h"

namespace offwait::perfetto {

namespace {

using protozero::pbf_writer;

constexpr std::size_t kEventsInBundle = 512;
constexpr const char* kIdle = "swapper";  ///< the thread that runs where no other does, with pid 0

/// The state in which a thread leaves its CPU, as the kernel tells tracepoints (__trace_sched_switch_state).
/// The bit for preemption is only understood beside the release of the kernel.
std::int64_t state_of(Leaving leaving, bool knows_kernel) {
  constexpr std::int64_t kInterruptible = 0x1, kUninterruptible = 0x2, kDead = 0x10, kParked = 0x40,
                         kPreempted = 0x100;
  switch (leaving) {
    case Leaving::wait:
      return kInterruptible;
    case Leaving::disk_wait:
      return kUninterruptible;
    case Leaving::preemption:
      return knows_kernel ? kPreempted : 0;
    case Leaving::gap:
      return kParked;
    case Leaving::exit:
      return kDead;
    case Leaving::stays:
      break;
  }
  return 0;
}

/// 0: a thread made the wakeup.
unsigned flags_of(const Trace& trace, ActorId waker) {
  if (waker == kNoActor) return ftrace_event::kHardIrq;
  switch (trace.actors[waker].kind) {
    case ActorKind::thread:
    case ActorKind::group:
      return 0;
    case ActorKind::nic:
    case ActorKind::softirq:
      return ftrace_event::kSoftIrq;
    case ActorKind::disk:
    case ActorKind::timer:
    case ActorKind::irq:
      break;
  }
  return ftrace_event::kHardIrq;
}

/// By ActorId: the threads whose numbers are free when this thread has exited. The kernel keeps the number of
/// a main thread until its process has no thread left.
std::vector<std::vector<ActorId>> freed_by_exits(const Trace& trace) {
  std::vector<std::vector<ActorId>> out(trace.actors.size());
  std::map<std::int32_t, std::vector<ActorId>> processes;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].kind == ActorKind::thread) processes[trace.actors[id].tgid].push_back(id);
  }
  for (auto& [tgid, threads] : processes) {
    const auto is_main = [&trace](ActorId id) { return trace.actors[id].tid == trace.actors[id].tgid; };
    std::sort(threads.begin(), threads.end(), [&](ActorId a, ActorId b) {
      return std::tuple(trace.actors[a].start, !is_main(a), a) <
             std::tuple(trace.actors[b].start, !is_main(b), b);
    });
    ActorId main_thread = kNoActor;
    ActorId last = kNoActor;  // the thread of its process that exits last
    for (const ActorId id : threads) {
      if (is_main(id)) {  // the first of a process, which may have the number of one that is gone
        if (main_thread != kNoActor) out[last].push_back(main_thread);
        main_thread = last = id;
        continue;
      }
      out[id].push_back(id);
      if (main_thread != kNoActor && trace.actors[id].exit > trace.actors[last].exit) last = id;
    }
    if (main_thread != kNoActor) out[last].push_back(main_thread);
  }
  return out;
}

/// Writes bundles of events, one CPU at a time.
class Bundles {
 public:
  Bundles(const Trace& trace, const SchedEvents& events, Sequence& sequence)
      : trace_(trace),
        events_(events),
        sequence_(sequence),
        freed_by_exits_(freed_by_exits(trace)),
        open_(events.cpus),
        blocked_in_(trace.sites.size()) {
    for (SiteId id = 0; id < trace.sites.size(); ++id) blocked_in_[id] = kernel_symbol(trace.sites[id]);
  }

  void write() {
    for (std::uint32_t index = 0; index < events_.events.size(); ++index) {
      std::vector<std::uint32_t>& bundle = open_[events_.events[index].cpu];
      bundle.push_back(index);
      if (bundle.size() == kEventsInBundle) write_bundle(bundle);
    }
    for (std::vector<std::uint32_t>& bundle : open_) {
      if (!bundle.empty()) write_bundle(bundle);
    }
  }

 private:
  /// The number of the kernel's function in which a thread blocked there; 0: not known.
  std::uint64_t kernel_symbol(const WaitSite& site) {
    const FoldedStack stack = fold(backtrace_of(trace_, site.wait_stack), 0, StackNoise::folded, 1);
    if (stack.kernel.empty()) return 0;
    return sequence_.string(shown_frame(stack.kernel.front()).name, interned_data::kKernelSymbols);
  }

  void write_bundle(std::vector<std::uint32_t>& bundle) {
    sequence_.add([&](pbf_writer& packet) {
      pbf_writer out(packet, packet::kFtraceEvents);
      out.add_uint32(ftrace_bundle::kCpu, events_.events[bundle.front()].cpu);
      for (const std::uint32_t index : bundle) write_event(events_.events[index], out);
    });
    bundle.clear();
  }

  void write_event(const SchedEvent& event, pbf_writer& bundle) {
    switch (event.kind) {
      case SchedEvent::Kind::comes:
        return write_coming(event, bundle);
      case SchedEvent::Kind::leaves:
        return write_leaving(event, bundle);
      case SchedEvent::Kind::waking:
        return write_waking(event, bundle);
    }
  }

  static void begin_event(pbf_writer& event, Nanos at, std::int32_t pid, unsigned flags = 0) {
    event.add_uint64(ftrace_event::kTimestamp, static_cast<std::uint64_t>(std::max<Nanos>(at, 0)));
    event.add_uint32(ftrace_event::kPid, static_cast<std::uint32_t>(pid));
    if (flags != 0) event.add_uint32(ftrace_event::kCommonFlags, flags);
  }

  void write_coming(const SchedEvent& event, pbf_writer& bundle) {
    const Actor& thread = trace_.actors[events_.runs[event.index].thread];
    pbf_writer out(bundle, ftrace_bundle::kEvent);
    begin_event(out, event.at, 0);
    pbf_writer fields(out, ftrace_event::kSchedSwitch);
    fields.add_string(sched_switch::kPrevComm, kIdle);
    fields.add_int32(sched_switch::kPrevPid, 0);
    fields.add_int64(sched_switch::kPrevState, 0);
    fields.add_string(sched_switch::kNextComm, escape(thread.name));
    fields.add_int32(sched_switch::kNextPid, thread.tid);
  }

  void write_leaving(const SchedEvent& event, pbf_writer& bundle) {
    const Run& run = events_.runs[event.index];
    const Actor& thread = trace_.actors[run.thread];
    {
      pbf_writer out(bundle, ftrace_bundle::kEvent);
      begin_event(out, event.at, thread.tid);
      pbf_writer fields(out, ftrace_event::kSchedSwitch);
      fields.add_string(sched_switch::kPrevComm, escape(thread.name));
      fields.add_int32(sched_switch::kPrevPid, thread.tid);
      fields.add_int64(sched_switch::kPrevState, state_of(run.leaving, !trace_.recording.kernel.empty()));
      fields.add_string(sched_switch::kNextComm, kIdle);
      fields.add_int32(sched_switch::kNextPid, 0);
    }
    if (run.leaving != Leaving::exit) return;
    for (const ActorId freed : freed_by_exits_[run.thread])
      write_free(event.at, trace_.actors[freed], bundle);
  }

  /// From now on the thread's number may be another one's.
  static void write_free(Nanos at, const Actor& thread, pbf_writer& bundle) {
    pbf_writer out(bundle, ftrace_bundle::kEvent);
    begin_event(out, at, 0);
    pbf_writer fields(out, ftrace_event::kSchedProcessFree);
    fields.add_string(sched_process_free::kComm, escape(thread.name));
    fields.add_int32(sched_process_free::kPid, thread.tid);
  }

  void write_waking(const SchedEvent& event, pbf_writer& bundle) {
    const Waking& waking = events_.wakings[event.index];
    const WaitSite& site = trace_.sites[waking.site];
    const Actor& thread = trace_.actors[site.thread];
    const unsigned flags = flags_of(trace_, site.waker);
    const std::int32_t pid = flags == 0 ? trace_.actors[site.waker].tid : 0;
    {
      pbf_writer out(bundle, ftrace_bundle::kEvent);
      begin_event(out, event.at, pid, flags);
      pbf_writer fields(out, ftrace_event::kSchedWaking);
      fields.add_string(sched_waking::kComm, escape(thread.name));
      fields.add_int32(sched_waking::kPid, thread.tid);
      fields.add_int32(sched_waking::kSuccess, 1);
      fields.add_int32(sched_waking::kTargetCpu, static_cast<std::int32_t>(events_.runs[waking.run].cpu));
    }
    if (blocked_in_[waking.site] == 0 && site.wait_class != WaitClass::disk) return;
    pbf_writer out(bundle, ftrace_bundle::kEvent);
    begin_event(out, event.at, pid, flags);
    pbf_writer fields(out, ftrace_event::kSchedBlockedReason);
    fields.add_int32(sched_blocked_reason::kPid, thread.tid);
    if (blocked_in_[waking.site] != 0)
      fields.add_uint64(sched_blocked_reason::kCaller, blocked_in_[waking.site]);
    fields.add_uint32(sched_blocked_reason::kIoWait, site.wait_class == WaitClass::disk ? 1 : 0);
  }

  const Trace& trace_;
  const SchedEvents& events_;
  Sequence& sequence_;
  std::vector<std::vector<ActorId>> freed_by_exits_;
  std::vector<std::vector<std::uint32_t>> open_;  ///< by CPU
  std::vector<std::uint64_t> blocked_in_;         ///< by SiteId: the number of a kernel symbol
};

}  // namespace

void write_sched_events(const Trace& trace, Sequence& sequence) {
  const SchedEvents events = sched_events(trace);
  Bundles(trace, events, sequence).write();
}

}  // namespace offwait::perfetto
