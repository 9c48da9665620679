// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/cut.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/exit_status.h"
#include "model/thread_references.h"
#include "model/trace_builder.h"

namespace offwait {
namespace {

std::string seconds(Nanos ns) { return fmt::format("{:.3f} s", to_seconds(ns)); }

/// Sites, and what only they and a few others refer to, with new numbers in order of first use.
class Renumbered {
 public:
  explicit Renumbered(Trace& trace) : trace_(trace) {}

  /// `open`: it is not known what ended the wait.
  SiteId site(SiteId id, bool open) {
    WaitSite site = trace_.sites[id];
    if (open) {
      site.waker = kNoActor;
      site.waker_stack = kNoStack;
      site.in_flight = false;
    }
    site.wait_stack = stack(site.wait_stack);
    site.waker_stack = stack(site.waker_stack);
    if (site.peer != kNoPeer) site.peer = builder_.peer(trace_.peers[site.peer]);
    return builder_.site(site);
  }
  StackId stack(StackId id) {
    if (id == kNoStack) return kNoStack;
    const auto [known, added] = stacks_.try_emplace(id, kNoStack);
    if (!added) return known->second;
    Stack stack = trace_.stacks[id];
    for (FrameId& frame : stack.frames) frame = builder_.frame(trace_.frames[frame]);
    return known->second = builder_.stack(stack);
  }
  ObjectId object(ObjectId id) {
    if (id == kNoObject) return kNoObject;
    const auto [known, added] = objects_.try_emplace(id, kNoObject);
    if (added) known->second = builder_.object(trace_.objects[id]);
    return known->second;
  }
  void finish() {
    Trace renumbered = builder_.take();
    trace_.sites = std::move(renumbered.sites);
    trace_.frames = std::move(renumbered.frames);
    trace_.stacks = std::move(renumbered.stacks);
    trace_.peers = std::move(renumbered.peers);
    trace_.objects = std::move(renumbered.objects);
  }

 private:
  Trace& trace_;
  TraceBuilder builder_;
  std::unordered_map<StackId, StackId> stacks_;
  std::unordered_map<ObjectId, ObjectId> objects_;
};

class Cut {
 public:
  Cut(Trace& trace, const Window& window)
      : trace_(trace),
        window_(window),
        part_(static_cast<double>(window.length()) /
              static_cast<double>(std::max<Nanos>(trace.window.length(), 1))) {}

  void make() {
    narrow();
    renumber();
    drop_threads();
  }

  void narrow() {
    if (window_.begin > trace_.window.begin) trace_.recording.command = 0;
    cut_requests();
    cut_intervals();
    cut_counters(trace_.disk_counters, [](const DiskCounters& counters) { return counters.disk; });
    cut_counters(trace_.nic_counters, [](const NicCounters& counters) { return counters.nic; });
    cut_counted(trace_.responses);
    cut_counted(trace_.calls);
    cut_cpus();
    trace_.window = window_;
    for (Actor& actor : trace_.actors) {
      if (actor.kind != ActorKind::thread) continue;
      if (actor.exit >= window_.end) actor.exit = kNever;
      actor.seen = std::max(actor.seen, window_.begin);
    }
  }

 private:
  bool overlaps(Nanos from, Nanos to) const { return to > window_.begin && from < window_.end; }
  bool holds(Nanos at) const { return at >= window_.begin && at < window_.end; }

  void cut_intervals();
  void renumber();
  void cut_requests();
  void cut_cpus();
  void drop_threads();
  std::vector<ActorId> devices_in_order() const;
  void replace_actors(const std::vector<ActorId>& ids);

  /// Counters that are read now and then: those in the window, and the nearest on both sides of it.
  template <class Counters, class DeviceOf>
  void cut_counters(std::vector<Counters>& all, DeviceOf device_of) const {
    std::unordered_map<ActorId, Nanos> before;
    std::unordered_map<ActorId, Nanos> after;
    for (const Counters& one : all) {
      if (one.at <= window_.begin) {
        Nanos& last = before.try_emplace(device_of(one), one.at).first->second;
        last = std::max(last, one.at);
      } else if (one.at >= window_.end) {
        Nanos& first = after.try_emplace(device_of(one), one.at).first->second;
        first = std::min(first, one.at);
      }
    }
    std::erase_if(all, [&](const Counters& one) {
      if (one.at <= window_.begin) return before[device_of(one)] != one.at;
      return one.at >= window_.end && after[device_of(one)] != one.at;
    });
  }

  /// Amounts that were counted between a first and a last time are spread evenly over that time.
  template <class Counted>
  void cut_counted(std::vector<Counted>& all) const {
    std::erase_if(all, [this](Counted& one) {
      const Nanos first = std::max(one.first, window_.begin);
      const Nanos last = std::min(one.last, window_.end);
      if (first > last) return true;
      if (one.first != one.last) {
        const double part = static_cast<double>(last - first) / static_cast<double>(one.last - one.first);
        one.count = scaled(one.count, part);
        if constexpr (std::is_same_v<Counted, Responses>) {
          one.connections = std::min(one.count, scaled(one.connections, part));
          one.under_way = static_cast<Nanos>(static_cast<double>(one.under_way) * part);
          one.unread = static_cast<Nanos>(static_cast<double>(one.unread) * part);
        }
      }
      one.first = first;
      one.last = last;
      return one.count == 0;
    });
  }
  static std::uint64_t scaled(std::uint64_t count, double part) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * part));
  }
  Nanos scaled(Nanos time) const { return static_cast<Nanos>(static_cast<double>(time) * part_); }

  Trace& trace_;
  const Window window_;
  const double part_;
};

void Cut::cut_intervals() {
  std::erase_if(trace_.preemptions, [this](const Preemption& one) { return !overlaps(one.out, one.run); });
  std::erase_if(trace_.gaps, [this](const Gap& gap) { return !overlaps(gap.from, gap.to); });
  std::erase_if(trace_.false_marks, [this](const FalseMark& mark) { return !holds(mark.at); });
  std::erase_if(trace_.cpu_samples, [this](const CpuSample& sample) { return !holds(sample.at); });
  std::erase_if(trace_.waits, [this](const Wait& wait) { return !overlaps(wait.block, wait.run); });
  for (Wait& wait : trace_.waits) {
    if (wait.holder != kNoActor && trace_.actors[wait.holder].exit < window_.begin) wait.holder = kNoActor;
    if (wait.wake >= window_.end) wait.wake = wait.run = kNever;
  }
}

/// Sites, stacks, peers and objects are numbered in the order in which the part has them first, so that it
/// does not matter what else was recorded.
void Cut::renumber() {
  Renumbered renumbered(trace_);
  std::map<std::pair<SiteId, bool>, SiteId> sites;  // by the old one, and whether its waits are open now
  for (Wait& wait : trace_.waits) {
    wait.object = renumbered.object(wait.object);
    const bool is_open = wait.wake == kNever;
    const auto [known, added] = sites.try_emplace({wait.site, is_open}, 0);
    if (added) known->second = renumbered.site(wait.site, is_open);
    wait.site = known->second;
  }
  for (CpuSample& sample : trace_.cpu_samples) sample.stack = renumbered.stack(sample.stack);
  for (DiskIo& io : trace_.disk_ios) io.file = renumbered.object(io.file);
  renumbered.finish();
}

void Cut::cut_requests() {
  std::erase_if(trace_.disk_ios, [this](const DiskIo& io) { return !overlaps(io.issue, io.complete); });
}

void Cut::cut_cpus() {
  Recording& recording = trace_.recording;
  for (Nanos* time : {&recording.cpu_busy_ns, &recording.cpu_idle_ns, &recording.cpu_steal_ns,
                      &recording.cost.programs_ns, &recording.cost.recorder_ns})
    *time = scaled(*time);
  for (CpuTime& cpu : trace_.cpu_times) {
    cpu.busy_ns = scaled(cpu.busy_ns);
    cpu.idle_ns = scaled(cpu.idle_ns);
  }
  for (CpuQuota& quota : trace_.cpu_quotas) {
    quota.periods = scaled(quota.periods, part_);
    quota.throttled_periods = std::min(quota.periods, scaled(quota.throttled_periods, part_));
    quota.throttled_ns = scaled(quota.throttled_ns);
  }
  for (MemoryUse& use : trace_.memory) {
    use.reached = scaled(use.reached, part_);
    use.refault_bytes = scaled(use.refault_bytes, part_);
    use.swap_bytes = scaled(use.swap_bytes, part_);
  }
  for (ProcessCpuTime& process : trace_.other_processes) {
    process.own_ns = scaled(process.own_ns);
    process.children_ns = scaled(process.children_ns);
  }
}

/// Threads that did not live in the window are left out, unless something refers to them: an exiting thread
/// wakes another a moment after its end.
void Cut::drop_threads() {
  std::vector<Actor>& actors = trace_.actors;
  std::vector<bool> kept(actors.size());
  for (ActorId id = 0; id < actors.size(); ++id)
    kept[id] = actors[id].kind == ActorKind::thread && overlaps(actors[id].start, actors[id].exit);
  tell_references(trace_, [&kept](ActorId id) { kept[id] = true; });
  for (const Preemption& preemption : trace_.preemptions) kept[preemption.thread] = true;

  std::vector<ActorId> order;
  for (ActorId id = 0; id < actors.size(); ++id) {
    if (kept[id] && actors[id].kind == ActorKind::thread) order.push_back(id);
  }
  const std::vector<ActorId> devices = devices_in_order();
  order.insert(order.end(), devices.begin(), devices.end());

  std::vector<ActorId> ids(actors.size(), kNoActor);
  std::vector<Actor> left;
  for (const ActorId id : order) {
    ids[id] = static_cast<ActorId>(left.size());
    left.push_back(std::move(actors[id]));
  }
  actors = std::move(left);
  replace_actors(ids);
}

/// Numbers the devices: first those that ended waits, in the order in which they first did so, then the other
/// disks and interfaces.
std::vector<ActorId> Cut::devices_in_order() const {
  constexpr std::size_t kEndedNone = SIZE_MAX;
  std::vector<std::size_t> first(trace_.actors.size(), kEndedNone);
  for (std::size_t site = trace_.sites.size(); site-- > 0;) {
    if (const ActorId waker = trace_.sites[site].waker; waker != kNoActor) first[waker] = site;
  }
  std::vector<ActorId> devices;
  for (ActorId id = 0; id < trace_.actors.size(); ++id) {
    const ActorKind kind = trace_.actors[id].kind;
    const bool has_counters = kind == ActorKind::disk || kind == ActorKind::nic;
    if (kind != ActorKind::thread && (first[id] != kEndedNone || has_counters)) devices.push_back(id);
  }
  std::stable_sort(devices.begin(), devices.end(), [&](ActorId a, ActorId b) {
    const Actor& x = trace_.actors[a];
    const Actor& y = trace_.actors[b];
    return std::tie(first[a], x.kind, x.name) < std::tie(first[b], y.kind, y.name);
  });
  return devices;
}

void Cut::replace_actors(const std::vector<ActorId>& ids) {
  const auto replace = [&ids](ActorId& id) {
    if (id != kNoActor) id = ids[id];
  };
  for (Actor& actor : trace_.actors) replace(actor.parent);
  for (WaitSite& site : trace_.sites) {
    replace(site.thread);
    replace(site.waker);
  }
  for (Wait& wait : trace_.waits) replace(wait.holder);
  for (DiskIo& io : trace_.disk_ios) {
    replace(io.thread);
    replace(io.disk);
  }
  for (auto& one : trace_.preemptions) replace(one.thread);
  for (auto& one : trace_.gaps) replace(one.thread);
  for (auto& one : trace_.cpu_samples) replace(one.thread);
  for (auto& one : trace_.false_marks) replace(one.thread);
  for (auto& one : trace_.responses) replace(one.thread);
  for (auto& one : trace_.calls) replace(one.thread);
  for (auto& one : trace_.capacities) replace(one.disk);
  for (auto& one : trace_.disk_counters) replace(one.disk);
  for (auto& one : trace_.nic_capacities) replace(one.nic);
  for (auto& one : trace_.nic_counters) replace(one.nic);
}

}  // namespace

Result<Window> window_of(const TracePart& part, const Window& whole) {
  Window window = whole;
  if (part.last) {
    window.begin = std::max(whole.begin, whole.end - *part.last);
    return window;
  }
  if (part.from >= whole.length())
    return Error{fmt::format("--window begins at {}, and the recording lasts {}", seconds(part.from),
                             seconds(whole.length())),
                 kUsage};
  window.begin = whole.begin + part.from;
  if (part.to) window.end = std::min(whole.end, whole.begin + *part.to);
  return window;
}

Trace cut_to(Trace trace, const Window& window) {
  if (window.begin == trace.window.begin && window.end == trace.window.end) return trace;
  Cut(trace, window).make();
  return trace;
}

Trace narrowed_to(Trace trace, const Window& window) {
  Cut(trace, window).narrow();
  return trace;
}

}  // namespace offwait
