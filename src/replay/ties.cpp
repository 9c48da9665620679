// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/ties.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace offwait {

namespace {

/// A group that handed over to another one less often has no pace that this other one follows.
constexpr std::uint64_t kShowsPace = 8;

bool is_outsider(const ThreadGroups& groups, const WaitKinds& kinds, GroupId group) {
  return groups.groups[group].recorder || (groups.groups[group].outside && !kinds.services.is_behind[group]);
}

/// By GroupId: those that wait for a time for more than a tenth of their lives, and more than twice as often
/// as others hand them something.
std::vector<bool> paced_by_time(const ThreadGroups& groups, const Uses& uses) {
  std::vector<bool> out;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    const GroupUse& use = uses.groups[id];
    out.push_back(is_much(use.timer_ns, use.lifetime_ns) && 2 * use.received < use.timers);
  }
  return out;
}

}  // namespace

Ties ties_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
             const WaitsForSleepers& sleepers) {
  std::map<std::pair<GroupId, GroupId>, std::uint64_t> handed;  // from an outsider to another group
  std::vector<std::uint64_t> waits(groups.groups.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const GroupId waiter = groups.group_of[site.thread];
    waits[waiter] += uses.sites[id].ended;
    if (kinds.of_site[id] == WaitKind::handover && is_outsider(groups, kinds, groups.group_of[site.waker])) {
      handed[{groups.group_of[site.waker], waiter}] += uses.sites[id].ended;
    }
  }
  Ties out;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    out.distance_ns.push_back(static_cast<double>(uses.groups[id].lifetime_ns) /
                              static_cast<double>(std::max<std::uint64_t>(waits[id], 1)));
  }
  const std::vector<bool> paced = paced_by_time(groups, uses);
  const auto only_while_awake = [&](GroupId waiter, GroupId waker) {
    const auto found = sleepers.find({waiter, waker});
    return paced[waker] && found != sleepers.end() && !is_much(found->second.asleep_ns, found->second.all_ns);
  };
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitKind kind = kinds.of_site[id];
    Tie tie = Tie::none;
    if (kind == WaitKind::handover || kind == WaitKind::lock) {
      const GroupId waiter = groups.group_of[trace.sites[id].thread];
      const GroupId waker = groups.group_of[trace.sites[id].waker];
      const bool outsider = is_outsider(groups, kinds, waker);
      if (kind == WaitKind::handover) {
        tie = outsider && handed[{waker, waiter}] < kShowsPace ? Tie::none
              : only_while_awake(waiter, waker)                ? Tie::lasts
                                                               : Tie::follows;
      } else if (waker == waiter) {
        tie = Tie::follows;
      } else {
        tie = outsider ? Tie::none : Tie::lasts;
      }
    }
    out.of_site.push_back(tie);
  }
  return out;
}

}  // namespace offwait
