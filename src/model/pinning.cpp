// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/pinning.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace offwait {

namespace {

constexpr double kMuchPinned = 0.5;  // of the runnable time

/// The busy and the idle time of some CPUs.
struct Use {
  Nanos busy_ns = 0;
  Nanos idle_ns = 0;
  double busy() const {
    const auto all = static_cast<double>(busy_ns + idle_ns);
    return all > 0 ? static_cast<double>(busy_ns) / all : 0;
  }
};

bool may_use_all(const CpuList& allowed, const std::vector<CpuTime>& cpus) {
  return allowed.empty() || std::all_of(cpus.begin(), cpus.end(),
                                        [&](const CpuTime& cpu) { return contains(allowed, cpu.cpu); });
}

void add_cpus(const std::vector<CpuTime>& cpus, PinnedThreads& out) {
  out.online_cpus = static_cast<std::uint32_t>(cpus.size());
  Use inside;
  Use outside;
  for (const CpuTime& cpu : cpus) {
    const bool may = contains(out.allowed, cpu.cpu);
    out.allowed_cpus += may ? 1 : 0;
    Use& use = may ? inside : outside;
    use.busy_ns += cpu.busy_ns;
    use.idle_ns += cpu.idle_ns;
  }
  out.allowed_busy = inside.busy();
  out.others_busy = outside.busy();
}

}  // namespace

Pinning pinning_of(const Trace& trace, const std::vector<Nanos>& runnable_ns) {
  std::map<std::string, PinnedThreads> by_cpus;
  Nanos all_ns = 0;
  for (ActorId id = 0; id < runnable_ns.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread || actor.outside) continue;
    all_ns += runnable_ns[id];
    if (may_use_all(actor.allowed_cpus, trace.cpu_times)) continue;
    PinnedThreads& pinned = by_cpus[to_string(actor.allowed_cpus)];
    pinned.allowed = actor.allowed_cpus;
    ++pinned.threads;
    pinned.runnable_ns += runnable_ns[id];
  }
  Pinning out;
  Nanos explained_ns = 0;
  for (auto& [text, pinned] : by_cpus) {
    add_cpus(trace.cpu_times, pinned);
    if (pinned.are_kept_out()) explained_ns += pinned.runnable_ns;
    if (!out.most || pinned.runnable_ns > out.most->runnable_ns) out.most = std::move(pinned);
  }
  out.explains =
      explained_ns > 0 && static_cast<double>(explained_ns) >= kMuchPinned * static_cast<double>(all_ns);
  return out;
}

}  // namespace offwait
