// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/group_use.h"

#include <algorithm>
#include <numeric>

namespace offwait {

namespace {

/// Whether waits end because the time that the thread asked for is over. This includes sleeps while another
/// thread is behind, and between looks for something, where it is not known what the thread looks for.
bool is_ended_by_time(const Trace& trace, const WaitKinds& kinds, SiteId id) {
  const WaitKind kind = kinds.of_site[id];
  const ActorId waker = trace.sites[id].waker;
  return kind == WaitKind::timer || kind == WaitKind::throttled ||
         (kind == WaitKind::unknown && waker != kNoActor && trace.actors[waker].kind == ActorKind::timer);
}

void add_site(Uses& uses, const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, SiteId id) {
  const WaitSite& site = trace.sites[id];
  const SiteUse& sum = uses.sites[id];
  const WaitKind kind = kinds.of_site[id];
  const GroupId waiter = groups.group_of[site.thread];
  GroupUse& use = uses.groups[waiter];
  switch (kind) {
    case WaitKind::timer:
      use.timer_ns += sum.wait_ns;
      use.timers += sum.ended;
      return;
    case WaitKind::disk:
      use.disk_ns[site.waker] += sum.wait_ns;
      break;
    case WaitKind::paused:
      use.paused_ns[paused_above(trace, site)] += sum.wait_ns - sum.served_ns;
      break;
    case WaitKind::remote:
      use.remote_ns += sum.wait_ns;
      break;
    case WaitKind::handover:
    case WaitKind::lock:
    case WaitKind::throttled: {
      const GroupId waker =
          kind == WaitKind::throttled ? kinds.sleeps.behind[id] : groups.group_of[site.waker];
      use.handovers += sum.ended;
      uses.groups[waker].handovers += sum.ended;
      uses.groups[waker].units += kind == WaitKind::handover ? sum.ended : 0;
      use.received += kind != WaitKind::lock && waker != waiter ? sum.ended : 0;
      Handovers& between = uses.handovers[std::minmax(waiter, waker)];
      (kind == WaitKind::lock ? between.lock : between.queue) += sum.ended;
      use.guessed_ns += kinds.guessed[id] && kind == WaitKind::lock && waker != waiter ? sum.wait_ns : 0;
      if (kind == WaitKind::throttled) return;
      break;
    }
    case WaitKind::unknown:
      if (is_ended_by_time(trace, kinds, id)) return;  // between looks for something
      break;
    case WaitKind::looked:
    case WaitKind::below:
    case WaitKind::transit:
    case WaitKind::stopped:
      break;
  }
  use.waits_ended += sum.ended;
  use.units += sum.ended;
}

/// Threads that are born for one piece of work each get it from the thread that makes them. Needs the groups'
/// units.
void add_births(Uses& uses, const Trace& trace, const ThreadGroups& groups) {
  std::map<std::pair<GroupId, GroupId>, std::uint64_t> births;  // by parent and child
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& child = trace.actors[id];
    const bool born = child.parent != kNoActor && child.start >= trace.window.begin;
    if (born && groups.group_of[child.parent] != groups.group_of[id]) {
      ++births[{groups.group_of[child.parent], groups.group_of[id]}];
    }
  }
  for (const auto& [between, number] : births) {
    const auto [parent, child] = between;
    if (number < uses.groups[child].units / 2) continue;
    uses.groups[parent].handovers += number;
    uses.groups[child].handovers += number;
    uses.groups[child].received += number;
    uses.handovers[std::minmax(parent, child)].queue += number;
  }
}

std::vector<double> thread_weights(const Trace& trace, const WaitKinds& kinds) {
  constexpr double kLeast = 0.01;
  std::vector<double> out(trace.actors.size(), kLeast);
  std::vector<bool> by_time(trace.sites.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) by_time[id] = is_ended_by_time(trace, kinds, id);
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    const WaitKind kind = kinds.of_site[wait.site];
    if (by_time[wait.site] || wait.wake >= trace.window.end || wait.wake < trace.window.begin) continue;
    out[site.thread] += 1;
    if (kind == WaitKind::handover || kind == WaitKind::lock) {
      out[site.waker] += 1;
    }
  }
  return out;
}

}  // namespace

bool is_much(double part, double of) {
  constexpr double kMuch = 0.1;
  return part > kMuch * of;
}

bool is_much(Nanos part_ns, Nanos of_ns) {
  return is_much(static_cast<double>(part_ns), static_cast<double>(of_ns));
}

Nanos running_of_all(const Uses& uses) {
  return std::accumulate(uses.groups.begin(), uses.groups.end(), Nanos{0},
                         [](Nanos sum, const GroupUse& use) { return sum + use.running_ns; });
}

Nanos GroupUse::work_ns() const {
  return std::accumulate(disk_ns.begin(), disk_ns.end(), running_ns,
                         [](Nanos sum, const auto& disk) { return sum + disk.second; });
}

Uses uses_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds) {
  const Window& window = trace.window;
  Uses uses;
  uses.groups.resize(groups.groups.size());
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (groups.group_of[id] != kNoGroup) {
      const Actor& actor = trace.actors[id];
      GroupUse& use = uses.groups[groups.group_of[id]];
      use.lifetime_ns += known_life(actor, window);
    }
  }
  uses.sites.resize(trace.sites.size());
  for (std::size_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    if (kinds.time_outs.came_to_nothing(id)) {
      GroupUse& use = uses.groups[groups.group_of[trace.sites[wait.site].thread]];
      use.runnable_ns += clipped(wait.wake, wait.run, window);
      use.running_ns -= clipped(wait.block, wait.run, window);
      continue;
    }
    SiteUse& sum = uses.sites[wait.site];
    GroupUse& use = uses.groups[groups.group_of[trace.sites[wait.site].thread]];
    sum.wait_ns += clipped(wait.block, wait.wake, window);
    sum.ended += wait.wake < window.end && wait.wake >= window.begin ? 1 : 0;
    use.runnable_ns += clipped(wait.wake, wait.run, window);
    use.running_ns -= clipped(wait.block, wait.run, window);
  }
  for (const auto& [wait, site] : kinds.time_outs.all()) {
    uses.sites[site].wait_ns += clipped(trace.waits[wait].block, trace.waits[wait].wake, window);
  }
  for (const Preemption& preemption : trace.preemptions) {
    GroupUse& use = uses.groups[groups.group_of[preemption.thread]];
    const Nanos runnable = clipped(preemption.out, preemption.run, window);
    use.runnable_ns += runnable;
    use.running_ns -= runnable;
  }
  for (const Gap& gap : trace.gaps) {
    uses.groups[groups.group_of[gap.thread]].running_ns -= clipped(gap.from, gap.to, window);
  }
  for (GroupUse& use : uses.groups) {
    use.running_ns = std::max<Nanos>(0, use.running_ns + use.lifetime_ns);
  }
  for (const DiskPart& part : kinds.disk_parts) {
    const SiteId id = trace.waits[part.wait].site;
    uses.groups[groups.group_of[trace.sites[id].thread]].disk_ns[part.disk] += part.part_ns;
    if (kinds.of_site[id] == WaitKind::paused) uses.sites[id].served_ns += part.part_ns;
  }
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    add_site(uses, trace, groups, kinds, id);
  }
  add_births(uses, trace, groups);
  uses.thread_weights = thread_weights(trace, kinds);
  return uses;
}

}  // namespace offwait
