// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/validate.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/histories.h"

namespace offwait {

namespace {

using Complaint = std::optional<Error>;

template <class... Parts>
Error error(fmt::format_string<Parts...> what, Parts&&... parts) {
  return Error{fmt::format(what, std::forward<Parts>(parts)...)};
}

std::string time_text(Nanos at) { return at == kNever ? "-" : std::to_string(at); }

std::string_view name_of(Interval::Kind kind) {
  switch (kind) {
    case Interval::Kind::wait:
      return "wait";
    case Interval::Kind::preemption:
      return "preemption";
    case Interval::Kind::gap:
      return "gap";
  }
  return "?";
}

std::string text(const Interval& interval) {
  return fmt::format("{} [{}, {})", name_of(interval.kind), time_text(interval.from), time_text(interval.to));
}

class Checker {
 public:
  explicit Checker(const Trace& trace) : trace_(trace) {}

  Complaint check() const {
    for (const auto step :
         {&Checker::check_sizes, &Checker::check_window, &Checker::check_actors, &Checker::check_stacks,
          &Checker::check_sites, &Checker::check_objects, &Checker::check_waits,
          &Checker::check_preemptions_and_gaps, &Checker::check_false_marks, &Checker::check_cpu_samples,
          &Checker::check_responses, &Checker::check_calls, &Checker::check_order, &Checker::check_disks,
          &Checker::check_cpus}) {
      if (Complaint complaint = (this->*step)()) {
        return complaint;
      }
    }
    return std::nullopt;
  }

 private:
  bool is_actor(ActorId id) const { return id < trace_.actors.size(); }
  bool is_a(ActorId id, ActorKind kind) const { return is_actor(id) && trace_.actors[id].kind == kind; }
  bool is_stack(StackId id) const { return id == kNoStack || id < trace_.stacks.size(); }

  template <class... Parts>
  Error in_thread(ActorId thread, fmt::format_string<Parts...> what, Parts&&... parts) const {
    return error("thread {}: {}", trace_.actors[thread].tid,
                 fmt::format(what, std::forward<Parts>(parts)...));
  }

  Complaint check_sizes() const {
    for (const std::size_t size :
         {trace_.actors.size(), trace_.peers.size(), trace_.sites.size(), trace_.stacks.size(),
          trace_.frames.size(), trace_.objects.size(), trace_.waits.size(), trace_.preemptions.size(),
          trace_.gaps.size(), trace_.cpu_samples.size()}) {
      if (size >= UINT32_MAX) {
        return Error{"the recording has more entries of one kind than 4294967294"};
      }
    }
    return std::nullopt;
  }

  Complaint check_window() const {
    const Window& window = trace_.window;
    if (window.begin < 0 || window.begin > window.end || window.end == kNever) {
      return error("the window [{}, {}) is impossible", time_text(window.begin), time_text(window.end));
    }
    return std::nullopt;
  }

  Complaint check_actors() const {
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      const Actor& actor = trace_.actors[id];
      if (actor.kind == ActorKind::thread && actor.start > actor.exit) {
        return in_thread(id, "born at {}, after its exit at {}", time_text(actor.start),
                         time_text(actor.exit));
      }
      if (actor.kind == ActorKind::thread && actor.parent != kNoActor &&
          (!is_a(actor.parent, ActorKind::thread) || actor.parent == id)) {
        return in_thread(id, "its parent is no other thread");
      }
      if (!is_cpu_list(actor.allowed_cpus)) {
        return in_thread(id, "the list of CPUs on which it may run is not in order");
      }
    }
    return std::nullopt;
  }

  Complaint check_stacks() const {
    for (std::size_t i = 0; i < trace_.stacks.size(); ++i) {
      for (const FrameId frame : trace_.stacks[i].frames) {
        if (frame >= trace_.frames.size()) {
          return error("stack {} has an unknown frame {}", i, frame);
        }
      }
    }
    return std::nullopt;
  }

  Complaint check_sites() const {
    for (std::size_t i = 0; i < trace_.sites.size(); ++i) {
      const WaitSite& site = trace_.sites[i];
      if (!is_a(site.thread, ActorKind::thread)) {
        return error("wait site {} belongs to no thread", i);
      }
      if (site.waker != kNoActor && !is_actor(site.waker)) {
        return in_thread(site.thread, "waits for an unknown actor {}", site.waker);
      }
      if (site.in_flight && !is_a(site.waker, ActorKind::nic)) {
        return in_thread(site.thread, "waits for a packet in flight, but not for a network interface");
      }
      if (site.any_request && site.wait_class != WaitClass::disk) {
        return in_thread(site.thread, "waits for any request, but not in class disk");
      }
      if (!is_stack(site.wait_stack) || !is_stack(site.waker_stack)) {
        return in_thread(site.thread, "waits with an unknown stack");
      }
      if (site.peer != kNoPeer && site.peer >= trace_.peers.size()) {
        return in_thread(site.thread, "waits for an unknown peer {}", site.peer);
      }
      if (static_cast<std::size_t>(site.wait_class) >= kWaitClasses) {
        return in_thread(site.thread, "waits with an unknown wait class");
      }
    }
    return std::nullopt;
  }

  Complaint check_objects() const {
    for (std::size_t i = 0; i < trace_.objects.size(); ++i) {
      if (const std::optional<std::string_view> fault = fault_of(trace_.objects[i])) {
        return error("object {}: an object {}", i, *fault);
      }
    }
    return std::nullopt;
  }

  Complaint check_waits() const {
    for (std::size_t i = 0; i < trace_.waits.size(); ++i) {
      const Wait& wait = trace_.waits[i];
      if (wait.site >= trace_.sites.size()) {
        return error("wait {} has an unknown site {}", i, wait.site);
      }
      const WaitSite& site = trace_.sites[wait.site];
      if (wait.object != kNoObject && wait.object >= trace_.objects.size()) {
        return in_thread(site.thread, "waits for an unknown object {}", wait.object);
      }
      if (wait.holder != kNoActor && !is_a(wait.holder, ActorKind::thread)) {
        return in_thread(site.thread, "waits for a lock that no thread holds");
      }
      if (!(wait.stands_for >= 1) || !std::isfinite(wait.stands_for)) {
        return in_thread(site.thread, "waits with stacks that stand for {} waits", wait.stands_for);
      }
      if (wait.block > wait.wake || wait.wake > wait.run || wait.block == kNever) {
        return in_thread(site.thread, "wait block={} wake={} run={} is not in order of time",
                         time_text(wait.block), time_text(wait.wake), time_text(wait.run));
      }
      if (wait.wake == kNever && site.waker != kNoActor) {
        return in_thread(site.thread, "the wait from {} has a waker but was never woken",
                         time_text(wait.block));
      }
    }
    return std::nullopt;
  }

  Complaint check_preemptions_and_gaps() const {
    for (const Preemption& preemption : trace_.preemptions) {
      if (!is_a(preemption.thread, ActorKind::thread)) {
        return error("the preemption at {} belongs to no thread", time_text(preemption.out));
      }
      if (preemption.out > preemption.run || preemption.out == kNever) {
        return in_thread(preemption.thread, "preemption out={} run={} is not in order of time",
                         time_text(preemption.out), time_text(preemption.run));
      }
    }
    for (const Gap& gap : trace_.gaps) {
      if (!is_a(gap.thread, ActorKind::thread)) {
        return error("the gap at {} belongs to no thread", time_text(gap.from));
      }
      if (gap.from > gap.to || gap.from == kNever) {
        return in_thread(gap.thread, "gap from={} to={} is not in order of time", time_text(gap.from),
                         time_text(gap.to));
      }
    }
    return std::nullopt;
  }

  Complaint check_false_marks() const {
    std::vector<Nanos> last(trace_.actors.size(), 0);
    for (const FalseMark& mark : trace_.false_marks) {
      if (!is_a(mark.thread, ActorKind::thread) || mark.at == kNever) {
        return error("the false wakeup at {} belongs to no thread", time_text(mark.at));
      }
      if (mark.at < last[mark.thread]) {
        return in_thread(mark.thread, "false wakeup at {} is not in order of time", time_text(mark.at));
      }
      last[mark.thread] = mark.at;
    }
    return std::nullopt;
  }

  Complaint check_cpu_samples() const {
    for (const CpuSample& sample : trace_.cpu_samples) {
      if (!is_a(sample.thread, ActorKind::thread)) {
        return error("the CPU sample at {} belongs to no thread", time_text(sample.at));
      }
      if (sample.at == kNever || !is_stack(sample.stack)) {
        return in_thread(sample.thread, "a CPU sample has no time or an unknown stack");
      }
    }
    return std::nullopt;
  }

  Complaint check_responses() const {
    for (const Responses& responses : trace_.responses) {
      if (!is_a(responses.thread, ActorKind::thread)) {
        return error("the responses up to {} belong to no thread", time_text(responses.last));
      }
      if ((responses.port == 0) == responses.path.empty()) {
        return in_thread(responses.thread, "its responses have neither a port nor a path, or both");
      }
      if (responses.count == 0 || responses.connections > responses.count) {
        return in_thread(responses.thread, "{} responses to {} connections", responses.count,
                         responses.connections);
      }
      if (responses.under_way < 0 || responses.unread < 0) {
        return in_thread(responses.thread, "its requests were under way for {}, unread for {}",
                         time_text(responses.under_way), time_text(responses.unread));
      }
      if (responses.first < trace_.window.begin || responses.first > responses.last ||
          responses.last > trace_.window.end) {
        return in_thread(responses.thread,
                         "responses first={} last={} are not in order of time in the window",
                         time_text(responses.first), time_text(responses.last));
      }
    }
    return std::nullopt;
  }

  Complaint check_calls() const {
    for (const Calls& calls : trace_.calls) {
      if (!is_a(calls.thread, ActorKind::thread)) {
        return error("the calls up to {} belong to no thread", time_text(calls.last));
      }
      if (calls.function.empty() || calls.count == 0) {
        return in_thread(calls.thread, "it called no function, or called it 0 times");
      }
      if (calls.first < trace_.window.begin || calls.first > calls.last || calls.last > trace_.window.end) {
        return in_thread(calls.thread, "calls first={} last={} are not in order of time in the window",
                         time_text(calls.first), time_text(calls.last));
      }
    }
    return std::nullopt;
  }

  Complaint check_order() const {
    const std::optional<OrderFault> fault = find_order_fault(trace_);
    if (!fault) return std::nullopt;
    const Actor& actor = trace_.actors[fault->thread];
    const std::string interval = text(fault->interval);
    switch (fault->kind) {
      case OrderFault::Kind::before_birth:
        return in_thread(fault->thread, "{} begins before its birth at {}", interval, time_text(actor.start));
      case OrderFault::Kind::overlap:
        return in_thread(fault->thread, "{} begins before {} ends", interval, text(fault->previous));
      case OrderFault::Kind::after_exit:
        return in_thread(fault->thread, "{} is not over at its exit at {}", interval, time_text(actor.exit));
    }
    return std::nullopt;
  }

  Complaint check_disks() const {
    for (const DiskCapacity& capacity : trace_.capacities) {
      if (!is_a(capacity.disk, ActorKind::disk)) {
        return Error{"a disk capacity belongs to no disk"};
      }
      for (const double rate : {capacity.bytes_per_s, capacity.ios_per_s}) {
        if (!std::isfinite(rate) || rate <= 0) {
          return error("disk capacity {:f} is not above 0", rate);
        }
      }
      if (!capacity.measured_on.empty() &&
          (capacity.source != CapacitySource::measured || !is_day(capacity.measured_on))) {
        return Error{"a disk capacity that was not measured has a day, or its day is not one"};
      }
    }
    for (const DiskCounters& counters : trace_.disk_counters) {
      if (!is_a(counters.disk, ActorKind::disk)) {
        return error("the disk counters at {} belong to no disk", time_text(counters.at));
      }
    }
    for (const NicCounters& counters : trace_.nic_counters) {
      if (!is_a(counters.nic, ActorKind::nic)) {
        return error("the interface counters at {} belong to no interface", time_text(counters.at));
      }
    }
    for (const NicCapacity& capacity : trace_.nic_capacities) {
      const auto positive = [](double rate) { return std::isfinite(rate) && rate > 0; };
      if (!is_a(capacity.nic, ActorKind::nic) || !positive(capacity.received_per_s) ||
          !positive(capacity.sent_per_s)) {
        return Error{"a capacity that is not positive, or belongs to no interface"};
      }
    }
    for (const DiskIo& io : trace_.disk_ios) {
      if (!is_a(io.disk, ActorKind::disk)) {
        return error("the request issued at {} went to no disk", time_text(io.issue));
      }
      if (io.thread != kNoActor && !is_a(io.thread, ActorKind::thread)) {
        return error("the request issued at {} was submitted by no thread", time_text(io.issue));
      }
      if (io.file != kNoObject && (io.file >= trace_.objects.size() || !is_stored(trace_.objects[io.file]))) {
        return error("the request issued at {} is for no file", time_text(io.issue));
      }
      if (io.issue > io.complete) {
        return error("the request issued at {} was complete before, at {}", time_text(io.issue),
                     time_text(io.complete));
      }
    }
    return std::nullopt;
  }

  Complaint check_cpus() const {
    const std::vector<CpuTime>& cpus = trace_.cpu_times;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      if (i > 0 && cpus[i].cpu <= cpus[i - 1].cpu) {
        return error("CPU {} is not in order of number", cpus[i].cpu);
      }
      if (!is_span(cpus[i].busy_ns) || !is_span(cpus[i].idle_ns)) {
        return error("the times of CPU {} are impossible", cpus[i].cpu);
      }
    }
    for (const CpuQuota& quota : trace_.cpu_quotas) {
      if (quota.quota_ns <= 0 || quota.period_ns <= 0 || !is_span(quota.quota_ns) ||
          !is_span(quota.period_ns) || !is_span(quota.throttled_ns)) {
        return Error{"a CPU quota is not above 0, or its times are impossible"};
      }
      if (quota.throttled_periods > quota.periods) {
        return error("a CPU quota was used up in {} of {} periods", quota.throttled_periods, quota.periods);
      }
    }
    for (const ProcessCpuTime& process : trace_.other_processes) {
      if (process.tgid <= 0 || !is_span(process.own_ns) || !is_span(process.children_ns)) {
        return error("the CPU time of process {} is impossible", process.tgid);
      }
    }
    return std::nullopt;
  }

  /// Whether this can be the length of something that has ended.
  static bool is_span(Nanos length) { return length >= 0 && length != kNever; }

  const Trace& trace_;
};

}  // namespace

Status validate(const Trace& trace) {
  if (Complaint complaint = Checker(trace).check()) {
    return *std::move(complaint);
  }
  return success();
}

Status check_window(const Trace& trace) {
  if (trace.window.length() <= 0) return Error{"the recording's window is empty"};
  return success();
}

}  // namespace offwait
