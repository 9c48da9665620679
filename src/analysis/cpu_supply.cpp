// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/cpu_supply.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/nanos.h"
#include "model/pinning.h"

namespace offwait {

namespace {

constexpr double kMuchThrottled = 0.1;       // of the runnable time
constexpr double kSeldomRunnable = 0.1;      // of running and runnable time
constexpr double kStealBesideTarget = 0.25;  // of the CPU time that the target had

/// The busy and the idle time of some CPUs.
struct Use {
  double busy_s = 0;
  double idle_s = 0;
  double busy() const { return busy_s + idle_s > 0 ? busy_s / (busy_s + idle_s) : 0; }
};

std::optional<FoundQuota> longest_throttled(const std::vector<CpuQuota>& quotas) {
  const auto longest =
      std::max_element(quotas.begin(), quotas.end(),
                       [](const CpuQuota& a, const CpuQuota& b) { return a.throttled_ns < b.throttled_ns; });
  if (longest == quotas.end() || longest->throttled_periods == 0) {
    return std::nullopt;
  }
  return FoundQuota{longest->cgroup, cpus_of(*longest), longest->periods, longest->throttled_periods,
                    to_seconds(longest->throttled_ns)};
}

FoundPinning found_pinning(const PinnedThreads& pinned) {
  return {pinned.allowed,
          pinned.allowed_cpus,
          pinned.online_cpus,
          pinned.threads,
          to_seconds(pinned.runnable_ns),
          pinned.allowed_busy,
          pinned.others_busy};
}

Pinning find_pinning(const Prepared& prepared) {
  std::vector<Nanos> runnable_ns;
  for (ActorId id = 0; id < prepared.trace.actors().size(); ++id) {
    runnable_ns.push_back(prepared.sweep.actors[id].runnable_ns);
  }
  return pinning_of(prepared.trace.all(), runnable_ns);
}

/// Processes with threads that waited for threads of the target, or ended waits of these.
std::set<std::int32_t> partners_of_target(const Trace& trace) {
  std::set<std::int32_t> out;
  const auto is_of_target = [](const Actor& actor) {
    return actor.kind == ActorKind::thread && !actor.outside;
  };
  for (const WaitSite& site : trace.sites) {
    if (site.waker == kNoActor) continue;
    const Actor& waiter = trace.actors[site.thread];
    const Actor& waker = trace.actors[site.waker];
    for (const auto& [one, other] : {std::pair(&waiter, &waker), std::pair(&waker, &waiter)}) {
      const bool may_be = one->kind == ActorKind::thread && !one->kernel && !one->recorder;
      if (may_be && one->outside && is_of_target(*other)) out.insert(one->tgid);
    }
  }
  return out;
}

/// Which of those that used the CPUs had the largest part.
CpuSupply::Cause user_of_cpus(const CpuSupply& supply) {
  if (supply.stolen_cpus > supply.other_cpus &&
      supply.stolen_cpus >= kStealBesideTarget * supply.target_cpus) {
    return CpuSupply::Cause::steal;
  }
  return supply.other_cpus > supply.target_cpus ? CpuSupply::Cause::others : CpuSupply::Cause::own;
}

}  // namespace

MachineTime machine_time(const Prepared& prepared) {
  const Recording& recording = prepared.trace.all().recording;
  const Nanos all_ns = recording.cpu_busy_ns + recording.cpu_idle_ns;
  Nanos ran_ns = 0;
  for (ActorId id = 0; id < prepared.trace.actors().size(); ++id) {
    ran_ns += prepared.sweep.actors[id].running_ns;
  }
  const Nanos busy_ns = std::min(std::max(recording.cpu_busy_ns, ran_ns), all_ns);
  return {busy_ns, all_ns - busy_ns};
}

CpuSupply find_cpu_supply(const Prepared& prepared, const StateSeconds& target) {
  using Cause = CpuSupply::Cause;
  const Trace& trace = prepared.trace.all();
  const double window_s = to_seconds(trace.window.length());
  const MachineTime time = machine_time(prepared);
  const Use machine{to_seconds(time.busy_ns), to_seconds(time.idle_ns)};
  const bool known = machine.busy_s + machine.idle_s > 0;
  CpuSupply out;
  if (known) {
    const double stolen_s = std::min(to_seconds(trace.recording.cpu_steal_ns), machine.busy_s);
    out.target_cpus = target.running_s / window_s;
    out.other_cpus = std::max(0.0, machine.busy_s - stolen_s - target.running_s) / window_s;
    out.stolen_cpus = stolen_s / window_s;
    out.steal = stolen_s / (machine.busy_s + machine.idle_s);
  }
  const std::set<std::int32_t> partners = partners_of_target(trace);
  for (const ProcessCpuTime& process : trace.other_processes) {
    out.others.push_back({process.tgid, process.name, to_seconds(process.own_ns),
                          to_seconds(process.children_ns), partners.contains(process.tgid)});
  }
  out.quota = longest_throttled(trace.cpu_quotas);
  const Pinning pinning = find_pinning(prepared);
  if (pinning.most) out.pinning = found_pinning(*pinning.most);

  if (target.runnable_s < kHardlyRunnable * window_s) {
    out.cause = Cause::none;
  } else if (out.quota && out.quota->throttled_s >= kHardlyRunnable * window_s &&
             out.quota->throttled_s >= kMuchThrottled * target.runnable_s) {
    out.cause = Cause::quota;
  } else if (pinning.explains) {
    out.cause = Cause::pinning;
  } else if (target.runnable_s < kSeldomRunnable * (target.running_s + target.runnable_s)) {
    out.cause = Cause::none;
  } else if (!known) {
    out.cause = Cause::unknown;
  } else {
    out.cause = machine.busy() >= kMachineBusy ? user_of_cpus(out) : Cause::bursts;
  }
  return out;
}

}  // namespace offwait
