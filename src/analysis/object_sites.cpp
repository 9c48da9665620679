// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/object_sites.h"

#include <map>
#include <utility>

namespace offwait {

std::vector<ObjectSite> split_by_object(Trace& trace) {
  std::vector<ObjectSite> out;
  for (SiteId id = 0; id < trace.sites.size(); ++id) out.push_back({id, kNoObject});
  std::map<std::pair<SiteId, ObjectId>, SiteId> split;
  for (Wait& wait : trace.waits) {
    if (wait.object == kNoObject) continue;
    const auto [found, added] =
        split.try_emplace({wait.site, wait.object}, static_cast<SiteId>(trace.sites.size()));
    if (added) {
      trace.sites.push_back(WaitSite(trace.sites[wait.site]));
      out.push_back({wait.site, wait.object});
    }
    wait.site = found->second;
  }
  return out;
}

}  // namespace offwait
