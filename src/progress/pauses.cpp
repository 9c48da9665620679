// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/pauses.h"

#include <cstdint>

#include "progress/group_use.h"

namespace offwait {
namespace {

bool is_kernels_own(WaitClass wait_class) {
  return wait_class == WaitClass::disk || wait_class == WaitClass::fault || wait_class == WaitClass::lock;
}

}  // namespace

std::vector<bool> pauses_by_time(const Trace& trace) {
  std::vector<bool> out;
  for (const WaitSite& site : trace.sites) {
    out.push_back(site.waker != kNoActor && trace.actors[site.waker].kind == ActorKind::timer &&
                  is_kernels_own(site.wait_class) && !trace.actors[site.thread].kernel);
  }
  return out;
}

std::vector<bool> pauses_above_disks(const Trace& trace, const std::vector<bool>& at_disks,
                                     const std::vector<DiskPart>& parts, const std::vector<bool>& collected) {
  std::vector<Nanos> all(trace.sites.size());
  std::vector<Nanos> served(trace.sites.size());
  std::vector<bool> out(trace.sites.size());
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    const DiskPartRange requests = parts_of(parts, id);
    const bool tells =
        at_disks[wait.site] && requests.begin() != requests.end() && (collected.empty() || !collected[id]);
    if (!tells) continue;
    all[wait.site] += clipped(wait.block, wait.wake, trace.window);
    for (const DiskPart& part : requests) served[wait.site] += part.part_ns;
  }
  for (SiteId id = 0; id < all.size(); ++id) out[id] = is_much(all[id] - served[id], all[id]);
  return out;
}

ActorId paused_above(const Trace& trace, const WaitSite& site) {
  return trace.actors[site.waker].kind == ActorKind::disk ? site.waker : kNoActor;
}

}  // namespace offwait
