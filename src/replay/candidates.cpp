// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/candidates.h"

#include <algorithm>
#include <map>

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

}  // namespace

std::vector<Change> candidates_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                  const Uses& uses, std::size_t most) {
  std::vector<Candidate> found;
  std::map<ActorId, Nanos> disks;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    for (const auto& [disk, ns] : uses.groups[id].disk_ns) {
      disks[disk] += kinds.below_devices[id] ? 0 : ns;
    }
  }
  // Among changes that save the same time the first one stays: if only one group uses a disk, the disk
  // itself.
  for (const auto& [disk, ns] : disks) {
    found.push_back({{Resource::disk, kNoGroup, disk}, ns});
  }
  const std::vector<Nanos> for_services = waits_for_services(kinds.services, uses);
  for (ServiceId id = 0; id < for_services.size(); ++id) {
    found.push_back({{Resource::remote, kNoGroup, kNoActor, 0.5, id}, for_services[id]});
  }
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    // What is behind a service changes with it.
    if (kinds.below_devices[id] || kinds.services.is_behind[id] || groups.groups[id].recorder) {
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
  const double least = kWorthTrying * static_cast<double>(trace.window.length());
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
