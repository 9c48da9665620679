// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/more_threads.h"

#include <algorithm>

namespace offwait {

namespace {

/// One thread that waits is served, the next one queues.
constexpr double kQueue = 2;

}  // namespace

std::vector<Pool> pools_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                           const Uses& uses, std::size_t most) {
  const auto window = static_cast<double>(std::max<Nanos>(trace.window.length(), 1));
  std::vector<double> waiting(groups.groups.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (kinds.of_site[id] != WaitKind::handover) continue;
    const GroupId waker = groups.group_of[site.waker];
    if (waker != groups.group_of[site.thread]) {
      waiting[waker] += static_cast<double>(uses.sites[id].wait_ns) / window;
    }
  }
  std::vector<Pool> out;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    if (groups.groups[id].outside) continue;
    const double threads = static_cast<double>(uses.groups[id].lifetime_ns) / window;
    if (threads > 0 && waiting[id] >= kQueue * threads) out.push_back({id, threads, waiting[id]});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Pool& a, const Pool& b) { return a.waiting > b.waiting; });
  out.resize(std::min(out.size(), most));
  return out;
}

Scenario shared_by_more_threads(const Change& change, const Uses& uses, bool cpus_short) {
  Scenario out;
  const auto share = [&](Resource resource, ActorId device = kNoActor) {
    Change part{resource, change.group, device, change.factor};
    part.shared = true;
    out.push_back(part);
  };
  if (!cpus_short) share(Resource::cpu);
  share(Resource::sleep);
  share(Resource::remote);
  for (const auto& [disk, ns] : uses.groups[change.group].disk_ns) share(Resource::io, disk);
  return out;
}

}  // namespace offwait
