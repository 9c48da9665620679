// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/scenario.h"

namespace offwait {

Scenario with_parts_of_services(const Scenario& scenario, const Services& services, const Uses& uses) {
  Scenario out;
  for (const Change& change : scenario) {
    out.push_back(change);
    if (change.service == kNoService) continue;
    for (const GroupId group : services.all[change.service].behind) {
      for (const Resource resource : {Resource::cpu, Resource::sleep, Resource::remote}) {
        out.push_back({resource, group, kNoActor, change.factor});
      }
      for (const auto& [disk, ns] : uses.groups[group].disk_ns) {
        out.push_back({Resource::io, group, disk, change.factor});
      }
    }
  }
  return out;
}

}  // namespace offwait
