// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/validate.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/histories.h"

namespace offwait {

namespace {

using Complaint = std::optional<Error>;

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
  return std::string(name_of(interval.kind)) + " [" + time_text(interval.from) + ", " +
         time_text(interval.to) + ")";
}

class Checker {
 public:
  explicit Checker(const Trace& trace) : trace_(trace) {}

  Complaint check() const {
    for (const auto step : {&Checker::check_sizes, &Checker::check_window, &Checker::check_actors,
                            &Checker::check_stacks, &Checker::check_sites, &Checker::check_waits,
                            &Checker::check_preemptions_and_gaps, &Checker::check_false_marks,
                            &Checker::check_cpu_samples, &Checker::check_order, &Checker::check_disks}) {
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

  Error in_thread(ActorId thread, const std::string& what) const {
    return Error{"thread " + std::to_string(trace_.actors[thread].tid) + ": " + what};
  }

  Complaint check_sizes() const {
    for (const std::size_t size :
         {trace_.actors.size(), trace_.peers.size(), trace_.sites.size(), trace_.stacks.size(),
          trace_.frames.size(), trace_.waits.size(), trace_.preemptions.size(), trace_.gaps.size(),
          trace_.cpu_samples.size()}) {
      if (size >= UINT32_MAX) {
        return Error{"the recording has more entries of one kind than 4294967294"};
      }
    }
    return std::nullopt;
  }

  Complaint check_window() const {
    const Window& window = trace_.window;
    if (window.begin < 0 || window.begin > window.end || window.end == kNever) {
      return Error{"the window [" + time_text(window.begin) + ", " + time_text(window.end) +
                   ") is impossible"};
    }
    return std::nullopt;
  }

  Complaint check_actors() const {
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      const Actor& actor = trace_.actors[id];
      if (actor.kind == ActorKind::thread && actor.start > actor.exit) {
        return in_thread(
            id, "born at " + time_text(actor.start) + ", after its exit at " + time_text(actor.exit));
      }
      if (actor.kind == ActorKind::thread && actor.parent != kNoActor &&
          (!is_a(actor.parent, ActorKind::thread) || actor.parent == id)) {
        return in_thread(id, "its parent is no other thread");
      }
    }
    return std::nullopt;
  }

  Complaint check_stacks() const {
    for (std::size_t i = 0; i < trace_.stacks.size(); ++i) {
      for (const FrameId frame : trace_.stacks[i].frames) {
        if (frame >= trace_.frames.size()) {
          return Error{"stack " + std::to_string(i) + " has an unknown frame " + std::to_string(frame)};
        }
      }
    }
    return std::nullopt;
  }

  Complaint check_sites() const {
    for (std::size_t i = 0; i < trace_.sites.size(); ++i) {
      const WaitSite& site = trace_.sites[i];
      if (!is_a(site.thread, ActorKind::thread)) {
        return Error{"wait site " + std::to_string(i) + " belongs to no thread"};
      }
      if (site.waker != kNoActor && !is_actor(site.waker)) {
        return in_thread(site.thread, "waits for an unknown actor " + std::to_string(site.waker));
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
        return in_thread(site.thread, "waits for an unknown peer " + std::to_string(site.peer));
      }
      if (site.holder != kNoActor && !is_a(site.holder, ActorKind::thread)) {
        return in_thread(site.thread, "waits for a mutex that no thread holds");
      }
      if (static_cast<std::size_t>(site.wait_class) >= kWaitClasses) {
        return in_thread(site.thread, "waits with an unknown wait class");
      }
    }
    return std::nullopt;
  }

  Complaint check_waits() const {
    for (std::size_t i = 0; i < trace_.waits.size(); ++i) {
      const Wait& wait = trace_.waits[i];
      if (wait.site >= trace_.sites.size()) {
        return Error{"wait " + std::to_string(i) + " has an unknown site " + std::to_string(wait.site)};
      }
      const WaitSite& site = trace_.sites[wait.site];
      if (wait.block > wait.wake || wait.wake > wait.run || wait.block == kNever) {
        return in_thread(site.thread, "wait block=" + time_text(wait.block) +
                                          " wake=" + time_text(wait.wake) + " run=" + time_text(wait.run) +
                                          " is not in order of time");
      }
      if (wait.wake == kNever && site.waker != kNoActor) {
        return in_thread(site.thread,
                         "the wait from " + time_text(wait.block) + " has a waker but was never woken");
      }
    }
    return std::nullopt;
  }

  Complaint check_preemptions_and_gaps() const {
    for (const Preemption& preemption : trace_.preemptions) {
      if (!is_a(preemption.thread, ActorKind::thread)) {
        return Error{"the preemption at " + time_text(preemption.out) + " belongs to no thread"};
      }
      if (preemption.out > preemption.run || preemption.out == kNever) {
        return in_thread(preemption.thread, "preemption out=" + time_text(preemption.out) + " run=" +
                                                time_text(preemption.run) + " is not in order of time");
      }
    }
    for (const Gap& gap : trace_.gaps) {
      if (!is_a(gap.thread, ActorKind::thread)) {
        return Error{"the gap at " + time_text(gap.from) + " belongs to no thread"};
      }
      if (gap.from > gap.to || gap.from == kNever) {
        return in_thread(gap.thread, "gap from=" + time_text(gap.from) + " to=" + time_text(gap.to) +
                                         " is not in order of time");
      }
    }
    return std::nullopt;
  }

  Complaint check_false_marks() const {
    std::vector<Nanos> last(trace_.actors.size(), 0);
    for (const FalseMark& mark : trace_.false_marks) {
      if (!is_a(mark.thread, ActorKind::thread) || mark.at == kNever) {
        return Error{"the false wakeup at " + time_text(mark.at) + " belongs to no thread"};
      }
      if (mark.at < last[mark.thread]) {
        return in_thread(mark.thread, "false wakeup at " + time_text(mark.at) + " is not in order of time");
      }
      last[mark.thread] = mark.at;
    }
    return std::nullopt;
  }

  Complaint check_cpu_samples() const {
    for (const CpuSample& sample : trace_.cpu_samples) {
      if (!is_a(sample.thread, ActorKind::thread)) {
        return Error{"the CPU sample at " + time_text(sample.at) + " belongs to no thread"};
      }
      if (sample.at == kNever || !is_stack(sample.stack)) {
        return in_thread(sample.thread, "a CPU sample has no time or an unknown stack");
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
        return in_thread(fault->thread, interval + " begins before its birth at " + time_text(actor.start));
      case OrderFault::Kind::overlap:
        return in_thread(fault->thread, interval + " begins before " + text(fault->previous) + " ends");
      case OrderFault::Kind::after_exit:
        return in_thread(fault->thread, interval + " is not over at its exit at " + time_text(actor.exit));
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
          return Error{"disk capacity " + std::to_string(rate) + " is not above 0"};
        }
      }
      if (!capacity.measured_on.empty() &&
          (capacity.source != CapacitySource::measured || !is_day(capacity.measured_on))) {
        return Error{"a disk capacity that was not measured has a day, or its day is none"};
      }
    }
    for (const DiskSample& sample : trace_.disk_samples) {
      if (!is_a(sample.disk, ActorKind::disk)) {
        return Error{"the disk sample at " + time_text(sample.at) + " belongs to no disk"};
      }
    }
    for (const NicSample& sample : trace_.nic_samples) {
      if (!is_a(sample.nic, ActorKind::nic)) {
        return Error{"the interface's sample at " + time_text(sample.at) + " belongs to no interface"};
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
        return Error{"the request issued at " + time_text(io.issue) + " went to no disk"};
      }
      if (io.thread != kNoActor && !is_a(io.thread, ActorKind::thread)) {
        return Error{"the request issued at " + time_text(io.issue) + " was submitted by no thread"};
      }
      if (io.issue > io.complete) {
        return Error{"the request issued at " + time_text(io.issue) + " was complete before, at " +
                     time_text(io.complete)};
      }
    }
    return std::nullopt;
  }

  const Trace& trace_;
};

}  // namespace

Status validate(const Trace& trace) {
  if (Complaint complaint = Checker(trace).check()) {
    return *std::move(complaint);
  }
  return success();
}

}  // namespace offwait
