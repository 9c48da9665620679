// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/candidates.h"

#include <algorithm>
#include <map>
#include <utility>

namespace offwait {

namespace {

constexpr double kWorthTrying = 0.005;

struct Candidate {
  Change change;
  Nanos time_ns = 0;
};

/// How long the target waited for each service, by ServiceId.
std::vector<Nanos> waits_for_services(const Services& services, const Uses& uses) {
  std::vector<Nanos> out(services.all.size());
  for (SiteId id = 0; id < services.of_site.size(); ++id) {
    if (services.of_site[id] != kNoService) out[services.of_site[id]] += uses.sites[id].wait_ns;
  }
  return out;
}

/// By GroupId: the target, and those outside of it that it waits for, or that these wait for in turn, for
/// `least` or more. Other threads that run on the machine were recorded only because they once woke a thread
/// of the target.
std::vector<bool> concerns_target(const Trace& trace, const ThreadGroups& groups, const Uses& uses,
                                  double least) {
  std::map<std::pair<GroupId, GroupId>, Nanos> waits;  // of the one for the other
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const GroupId waker = site.waker == kNoActor ? kNoGroup : groups.group_of[site.waker];
    if (waker != kNoGroup) waits[{groups.group_of[site.thread], waker}] += uses.sites[id].wait_ns;
  }
  std::vector<bool> out;
  for (const ThreadGroup& group : groups.groups) out.push_back(!group.outside);
  for (bool more = true; std::exchange(more, false);) {
    for (const auto& [pair, wait_ns] : waits) {
      const auto [waiter, waker] = pair;
      if (!out[waiter] || out[waker] || static_cast<double>(wait_ns) < least) continue;
      out[waker] = true;
      more = true;
    }
  }
  return out;
}

}  // namespace

std::vector<Change> candidates_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                  const Uses& uses, std::size_t most) {
  const double least = kWorthTrying * static_cast<double>(trace.window.length());
  const std::vector<bool> concerns = concerns_target(trace, groups, uses, least);
  std::vector<Candidate> found;
  std::map<ActorId, Nanos> disks;
  std::map<ActorId, Nanos> pauses;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    if (kinds.below_devices[id]) continue;
    for (const auto& [disk, ns] : uses.groups[id].disk_ns) disks[disk] += ns;
    for (const auto& [disk, ns] : uses.groups[id].paused_ns) pauses[disk] += ns;
  }
  // Among changes that save the same time the first one stays: if only one group uses a disk, the disk
  // itself.
  for (const auto& [disk, ns] : disks) {
    found.push_back({{Resource::disk, kNoGroup, disk}, ns});
  }
  // Such a change removes the waits, and its gain is a bound: how fast a disk is when it has more to do did
  // not show.
  for (const auto& [disk, ns] : pauses) found.push_back({{Resource::pause, kNoGroup, disk, 0}, ns});
  const std::vector<Nanos> for_services = waits_for_services(kinds.services, uses);
  for (ServiceId id = 0; id < for_services.size(); ++id) {
    found.push_back({{Resource::remote, kNoGroup, kNoActor, 0.5, id}, for_services[id]});
  }
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    // Groups behind a service change together with it.
    if (kinds.below_devices[id] || kinds.services.is_behind[id] || groups.groups[id].recorder ||
        !concerns[id]) {
      continue;
    }
    const GroupUse& use = uses.groups[id];
    found.push_back({{Resource::cpu, id}, use.running_ns});
    found.push_back({{Resource::sleep, id}, use.timer_ns});
    if (groups.groups[id].outside) {
      found.push_back({{Resource::remote, id}, use.remote_ns});
    }
    for (const auto& [disk, ns] : use.disk_ns) {
      found.push_back({{Resource::io, id, disk}, ns});
    }
  }
  std::erase_if(found, [least](const Candidate& one) { return static_cast<double>(one.time_ns) < least; });
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.time_ns > b.time_ns; });
  std::vector<Change> out;
  for (const Candidate& one : found) {
    if (out.size() < most) {
      out.push_back(one.change);
    }
  }
  return out;
}

}  // namespace offwait
