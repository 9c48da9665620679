// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/cut.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/trace_builder.h"

namespace offwait {
namespace {

std::string seconds(Nanos ns) { return fmt::format("{:.3f} s", to_seconds(ns)); }

class Cut {
 public:
  Cut(Trace& trace, const Window& window)
      : trace_(trace),
        window_(window),
        part_(static_cast<double>(window.length()) /
              static_cast<double>(std::max<Nanos>(trace.window.length(), 1))) {}

  void make() {
    if (window_.begin > trace_.window.begin) trace_.recording.command = 0;
    cut_intervals();
    cut_requests();
    cut_counters(trace_.disk_counters, [](const DiskCounters& counters) { return counters.disk; });
    cut_counters(trace_.nic_counters, [](const NicCounters& counters) { return counters.nic; });
    cut_counted(trace_.responses);
    cut_counted(trace_.calls);
    cut_cpus();
    trace_.window = window_;
    drop_threads();
  }

 private:
  bool overlaps(Nanos from, Nanos to) const { return to > window_.begin && from < window_.end; }
  bool holds(Nanos at) const { return at >= window_.begin && at < window_.end; }

  void cut_intervals();
  void cut_requests();
  void cut_cpus();
  void drop_threads();
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

  /// What was counted from a first to a last time is spread evenly between them.
  template <class Counted>
  void cut_counted(std::vector<Counted>& all) const {
    std::erase_if(all, [this](Counted& one) {
      const Nanos first = std::max(one.first, window_.begin);
      const Nanos last = std::min(one.last, window_.end);
      if (first > last) return true;
      if (one.first != one.last) {
        const double part = static_cast<double>(last - first) / static_cast<double>(one.last - one.first);
        one.count = scaled(one.count, part);
        if constexpr (requires { one.connections; })
          one.connections = std::min(one.count, scaled(one.connections, part));
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
  TraceBuilder builder;
  std::unordered_map<SiteId, SiteId> sites;
  const auto site = [&](SiteId id) {
    const auto [found, added] = sites.try_emplace(id, 0);
    if (added) found->second = builder.site(trace_.sites[id]);
    return found->second;
  };
  std::vector<Wait> waits;
  for (Wait wait : trace_.waits) {
    if (!overlaps(wait.block, wait.run)) continue;
    if (wait.wake < window_.end) {
      wait.site = site(wait.site);
    } else {
      // It is open at the window's end, and who will wake the thread is not known then.
      WaitSite open = trace_.sites[wait.site];
      open.waker = kNoActor;
      open.waker_stack = kNoStack;
      open.in_flight = false;
      wait.site = builder.site(open);
      wait.wake = kNever;
      wait.run = kNever;
    }
    waits.push_back(wait);
  }
  trace_.waits = std::move(waits);
  trace_.sites = builder.take().sites;
  std::erase_if(trace_.preemptions, [this](const Preemption& one) { return !overlaps(one.out, one.run); });
  std::erase_if(trace_.gaps, [this](const Gap& gap) { return !overlaps(gap.from, gap.to); });
  std::erase_if(trace_.false_marks, [this](const FalseMark& mark) { return !holds(mark.at); });
  std::erase_if(trace_.cpu_samples, [this](const CpuSample& sample) { return !holds(sample.at); });
}

void Cut::cut_requests() {
  std::erase_if(trace_.disk_ios, [this](const DiskIo& io) { return !overlaps(io.issue, io.complete); });
}

void Cut::cut_cpus() {
  Recording& recording = trace_.recording;
  for (Nanos* time : {&recording.cpu_busy_ns, &recording.cpu_idle_ns, &recording.cpu_steal_ns})
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
  for (ActorId id = 0; id < actors.size(); ++id) {
    const Actor& actor = actors[id];
    kept[id] = actor.kind != ActorKind::thread || overlaps(actor.start, actor.exit);
  }
  const auto keep = [&kept](ActorId id) {
    if (id != kNoActor) kept[id] = true;
  };
  for (const WaitSite& site : trace_.sites) {
    keep(site.thread);
    keep(site.waker);
  }
  for (const Wait& wait : trace_.waits) keep(wait.holder);
  for (const DiskIo& io : trace_.disk_ios) keep(io.thread);
  for (const auto& one : trace_.preemptions) keep(one.thread);
  for (const auto& one : trace_.gaps) keep(one.thread);
  for (const auto& one : trace_.cpu_samples) keep(one.thread);
  for (const auto& one : trace_.false_marks) keep(one.thread);
  for (const auto& one : trace_.responses) keep(one.thread);
  for (const auto& one : trace_.calls) keep(one.thread);

  std::vector<ActorId> ids(actors.size(), kNoActor);
  ActorId next = 0;
  for (ActorId id = 0; id < actors.size(); ++id) {
    if (!kept[id]) continue;
    Actor& actor = actors[id];
    if (actor.kind == ActorKind::thread) {
      if (actor.exit >= window_.end) actor.exit = kNever;
      actor.seen = std::max(actor.seen, window_.begin);
    }
    ids[id] = next;
    if (next != id) actors[next] = std::move(actor);
    ++next;
  }
  actors.resize(next);
  replace_actors(ids);
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
                             seconds(whole.length()))};
  window.begin = whole.begin + part.from;
  if (part.to) window.end = std::min(whole.end, whole.begin + *part.to);
  return window;
}

Trace cut_to(Trace trace, const Window& window) {
  if (window.begin == trace.window.begin && window.end == trace.window.end) return trace;
  Cut(trace, window).make();
  return trace;
}

}  // namespace offwait
