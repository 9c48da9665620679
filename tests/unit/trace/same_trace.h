// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two traces field by field, for the unit tests of the text form and for its fuzzer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "model/backtrace.h"
#include "model/trace.h"

namespace offwait {

inline std::vector<std::string> frames_of(const Trace& trace, StackId id) {
  return to_lines(backtrace_of(trace, id));
}

/// Whether two sites are the same except for the ids of their stacks. Actors have the same ids in both
/// traces.
inline bool same_site(const Trace& a, const WaitSite& x, const Trace& b, const WaitSite& y) {
  return std::tuple(x.thread, x.waker, x.wait_class, x.wait_stack == kNoStack, x.waker_stack == kNoStack,
                    x.in_flight,
                    x.any_request) == std::tuple(y.thread, y.waker, y.wait_class, y.wait_stack == kNoStack,
                                                 y.waker_stack == kNoStack, y.in_flight, y.any_request) &&
         (x.peer == kNoPeer) == (y.peer == kNoPeer) &&
         (x.peer == kNoPeer || a.peers[x.peer] == b.peers[y.peer]) &&
         backtrace_of(a, x.wait_stack) == backtrace_of(b, y.wait_stack) &&
         backtrace_of(a, x.waker_stack) == backtrace_of(b, y.waker_stack);
}

/// Whether the entries of both differ, in order, in the fields that `fields` returns.
inline bool differs(const auto& x, const auto& y, auto fields) {
  return !std::equal(x.begin(), x.end(), y.begin(), y.end(),
                     [&](const auto& one, const auto& other) { return fields(one) == fields(other); });
}

inline bool recordings_differ(const Recording& a, const Recording& b) {
  const auto fields = [](const Recording& r) {
    return std::tie(r.target, r.start_time, r.kernel, r.cpus, r.offwait, r.cpu_busy_ns, r.cpu_idle_ns,
                    r.sample_hz, r.command, r.stack_reuse.walked, r.stack_reuse.recalled,
                    r.stack_reuse.verified, r.stack_reuse.wrong, r.cost.programs_ns, r.cost.recorder_ns,
                    r.cost.most, r.cost.waits_with_stacks, r.cost.waits_without_stacks, r.cpu_steal_ns,
                    r.host, r.labels, r.interrupted);
  };
  return fields(a) != fields(b);
}

inline bool cpu_samples_differ(const Trace& a, const Trace& b) {
  const auto samples = [](const Trace& trace) {
    std::vector<std::tuple<ActorId, Nanos, bool, std::vector<std::string>>> out;
    for (const CpuSample& sample : trace.cpu_samples) {
      out.emplace_back(sample.thread, sample.at, sample.stack == kNoStack, frames_of(trace, sample.stack));
    }
    return out;
  };
  return samples(a) != samples(b);
}

inline bool capacities_differ(const Trace& a, const Trace& b) {
  const auto sorted = [](std::vector<DiskCapacity> capacities) {
    std::sort(capacities.begin(), capacities.end(),
              [](const DiskCapacity& x, const DiskCapacity& y) { return x.disk < y.disk; });
    return capacities;
  };
  return differs(sorted(a.capacities), sorted(b.capacities), [](const DiskCapacity& capacity) {
    return std::tie(capacity.disk, capacity.bytes_per_s, capacity.ios_per_s, capacity.source,
                    capacity.measured_on);
  });
}

/// `site of wait N` for the first wait whose sites differ, or nothing.
inline std::string different_site(const Trace& a, const Trace& b) {
  // Each pair of sites is compared once, not for each of its waits.
  std::vector<SiteId> partner(a.sites.size(), kNoActor);
  for (std::size_t i = 0; i < a.waits.size(); ++i) {
    const SiteId x = a.waits[i].site;
    const SiteId y = b.waits[i].site;
    if (partner[x] == y) {
      continue;
    }
    if (!same_site(a, a.sites[x], b, b.sites[y])) {
      return "site of wait " + std::to_string(i);
    }
    partner[x] = y;
  }
  return "";
}

inline std::string difference_of_devices(const Trace& a, const Trace& b) {
  if (capacities_differ(a, b)) return "capacities";
  if (differs(a.disk_counters, b.disk_counters,
              [](const DiskCounters& s) { return std::tie(s.disk, s.at, s.bytes, s.ios, s.in_flight); })) {
    return "disk counters";
  }
  if (differs(a.disk_ios, b.disk_ios, [](const DiskIo& io) {
        return std::tie(io.thread, io.disk, io.issue, io.complete, io.bytes, io.file, io.operation);
      })) {
    return "disk ios";
  }
  return "";
}

inline std::string difference_of_cpus(const Trace& a, const Trace& b) {
  if (differs(a.cpu_times, b.cpu_times,
              [](const CpuTime& cpu) { return std::tie(cpu.cpu, cpu.busy_ns, cpu.idle_ns); })) {
    return "times of CPUs";
  }
  if (differs(a.memory, b.memory, [](const MemoryUse& use) {
        return std::tie(use.cgroup, use.has_target, use.limit_bytes, use.used_bytes, use.reached,
                        use.refault_bytes, use.swap_bytes);
      })) {
    return "memory";
  }
  if (differs(a.cpu_quotas, b.cpu_quotas, [](const CpuQuota& quota) {
        return std::tie(quota.cgroup, quota.quota_ns, quota.period_ns, quota.periods, quota.throttled_periods,
                        quota.throttled_ns);
      })) {
    return "CPU quotas";
  }
  if (differs(a.other_processes, b.other_processes, [](const ProcessCpuTime& process) {
        return std::tie(process.tgid, process.name, process.own_ns, process.children_ns);
      })) {
    return "other processes";
  }
  return "";
}

inline std::string difference_of_threads(const Trace& a, const Trace& b) {
  if (differs(a.waits, b.waits, [](const Wait& wait) {
        return std::tie(wait.object, wait.holder, wait.block, wait.wake, wait.run, wait.stands_for);
      })) {
    return "waits";
  }
  if (differs(a.false_marks, b.false_marks,
              [](const FalseMark& mark) { return std::tie(mark.thread, mark.at); })) {
    return "false marks";
  }
  if (const std::string site = different_site(a, b); !site.empty()) return site;
  if (cpu_samples_differ(a, b)) return "CPU samples";
  if (differs(a.responses, b.responses, [](const Responses& r) {
        return std::tie(r.thread, r.port, r.path, r.count, r.connections, r.first, r.last);
      })) {
    return "responses";
  }
  if (differs(a.calls, b.calls,
              [](const Calls& c) { return std::tie(c.thread, c.function, c.count, c.first, c.last); })) {
    return "calls";
  }
  if (differs(a.preemptions, b.preemptions,
              [](const Preemption& p) { return std::tie(p.thread, p.out, p.run); })) {
    return "preemptions";
  }
  if (differs(a.gaps, b.gaps, [](const Gap& gap) { return std::tie(gap.thread, gap.from, gap.to); })) {
    return "gaps";
  }
  return "";
}

/// Names the first difference; empty if the traces are the same. Actors and records must have the same order;
/// sites, stacks and frames may be numbered differently.
inline std::string first_difference(const Trace& a, const Trace& b) {
  if (a.window.begin != b.window.begin || a.window.end != b.window.end) return "window";
  if (recordings_differ(a.recording, b.recording)) return "recording";
  if (a.loss != b.loss) return "loss";
  if (differs(a.actors, b.actors, [](const Actor& actor) {
        return std::tie(actor.kind, actor.name, actor.tid, actor.tgid, actor.ns_tid, actor.start, actor.exit,
                        actor.seen, actor.outside, actor.kernel, actor.parent, actor.on, actor.allowed_cpus,
                        actor.program, actor.title);
      })) {
    return "actors";
  }
  if (a.objects != b.objects) return "objects";
  if (const std::string cpus = difference_of_cpus(a, b); !cpus.empty()) return cpus;
  if (const std::string threads = difference_of_threads(a, b); !threads.empty()) return threads;
  if (a.sites.size() != b.sites.size()) return "number of sites";
  if (a.stacks.size() != b.stacks.size()) return "number of stacks";
  if (a.frames.size() != b.frames.size()) return "number of frames";
  return difference_of_devices(a, b);
}

}  // namespace offwait
