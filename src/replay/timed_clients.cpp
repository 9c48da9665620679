// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/timed_clients.h"

#include <map>
#include <utility>

namespace offwait {

std::vector<std::set<GroupId>> timed_clients_of(const Trace& trace, const ThreadGroups& groups,
                                                const WaitKinds& kinds, const Uses& uses) {
  using Place = std::pair<ActorId, StackId>;
  std::map<Place, Nanos> for_times;
  std::map<GroupId, std::set<Place>> for_responses;  // by the group that responds
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const GroupId group = groups.group_of[site.thread];
    if (group == kNoGroup || !groups.groups[group].outside || site.wait_stack == kNoStack) continue;
    const Place place = {site.thread, site.wait_stack};
    if (kinds.of_site[id] == WaitKind::timer) for_times[place] += uses.sites[id].wait_ns;
    if (kinds.of_site[id] == WaitKind::handover) for_responses[groups.group_of[site.waker]].insert(place);
  }
  std::vector<std::set<GroupId>> out(groups.groups.size());
  for (const auto& [responding, places] : for_responses) {
    if (responding == kNoGroup || groups.groups[responding].outside) continue;
    Nanos timed_ns = 0;
    Nanos lives_ns = 0;
    std::set<GroupId> clients;
    for (const Place& place : places) {
      const auto found = for_times.find(place);
      if (found == for_times.end()) continue;
      timed_ns += found->second;
      if (clients.insert(groups.group_of[place.first]).second) {
        lives_ns += uses.groups[groups.group_of[place.first]].lifetime_ns;
      }
    }
    if (is_much(timed_ns, lives_ns)) out[responding] = clients;
  }
  return out;
}

}  // namespace offwait
