// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/much_waited_for.h"

#include <map>

namespace offwait {

std::set<std::pair<GroupId, GroupId>> much_waited_for(const Trace& trace, const ThreadGroups& groups,
                                                      const WaitKinds& kinds, const Uses& uses) {
  std::map<std::pair<GroupId, GroupId>, Nanos> waited;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (kinds.of_site[id] != WaitKind::handover) continue;
    const WaitSite& site = trace.sites[id];
    waited[{groups.group_of[site.thread], groups.group_of[site.waker]}] += uses.sites[id].wait_ns;
  }
  std::set<std::pair<GroupId, GroupId>> out;
  for (const auto& [pair, wait_ns] : waited) {
    const bool other = pair.first != pair.second;
    if (other && is_much(wait_ns, uses.groups[pair.first].lifetime_ns)) out.insert(pair);
  }
  return out;
}

}  // namespace offwait
