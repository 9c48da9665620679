// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/waits_for_sleepers.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "model/stretches.h"

namespace offwait {

namespace {

bool may_be_for_threads(WaitKind kind) {
  switch (kind) {
    case WaitKind::handover:
    case WaitKind::lock:
    case WaitKind::looked:
    case WaitKind::throttled:
    case WaitKind::transit:
    case WaitKind::unknown:
      return true;
    case WaitKind::below:
    case WaitKind::disk:
    case WaitKind::remote:
    case WaitKind::timer:
    case WaitKind::paused:
    case WaitKind::stopped:
      break;
  }
  return false;
}

}  // namespace

WaitsForSleepers waits_for_sleepers_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                       const Uses& uses) {
  std::vector<bool> is_sleeper;  // by GroupId
  for (const GroupUse& use : uses.groups) is_sleeper.push_back(is_much(use.timer_ns, use.lifetime_ns));
  WaitsForSleepers out;
  if (std::find(is_sleeper.begin(), is_sleeper.end(), true) == is_sleeper.end()) return out;
  std::vector<Stretches> sleeps(trace.actors.size());
  const Window& window = trace.window;
  for (std::size_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    const ActorId thread = trace.sites[wait.site].thread;
    if (kinds.of_site[wait.site] != WaitKind::timer || !is_sleeper[groups.group_of[thread]] ||
        kinds.time_outs.came_to_nothing(id)) {
      continue;
    }
    sleeps[thread].add(std::max(wait.block, window.begin), std::min(wait.wake, window.end));
  }
  std::vector<Nanos> by_others(trace.actors.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (may_be_for_threads(kinds.of_site[id])) by_others[trace.sites[id].thread] += uses.sites[id].wait_ns;
  }
  std::set<std::pair<ActorId, GroupId>> seen;
  for (const Wait& wait : trace.waits) {
    if (kinds.of_site[wait.site] != WaitKind::handover || wait.wake == kNever) continue;
    const WaitSite& site = trace.sites[wait.site];
    const GroupId waiter = groups.group_of[site.thread];
    const GroupId waker = groups.group_of[site.waker];
    if (waiter == waker || !is_sleeper[waker]) continue;
    const Nanos from = std::max(wait.block, window.begin);
    const Nanos to = std::min(wait.wake, window.end);
    WaitForSleeper& sum = out[{waiter, waker}];
    if (seen.emplace(site.thread, waker).second) {
      sum.lives_ns += known_life(trace.actors[site.thread], window);
      sum.others_ns += by_others[site.thread];
    }
    sum.others_ns -= std::max<Nanos>(0, to - from);
    sum.all_ns += std::max<Nanos>(0, to - from);
    sum.asleep_ns += sleeps[site.waker].within(from, to);
  }
  return out;
}

}  // namespace offwait
