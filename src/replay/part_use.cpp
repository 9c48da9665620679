// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/part_use.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace offwait {

namespace {

bool belongs(const Change& part, GroupId group, const Trace& trace, const WaitSite& site, WaitKind kind) {
  const ActorId waker = site.waker;
  if (part.group != kNoGroup && part.group != group) {
    return false;
  }
  switch (part.resource) {
    case Resource::io:
    case Resource::disk:
    case Resource::sync:
      return kind == WaitKind::below ||
             ((kind == WaitKind::disk || kind == WaitKind::paused) && waker == part.device);
    case Resource::pause:
      return kind == WaitKind::paused && paused_above(trace, site) == part.device;
    case Resource::sleep:
      return kind == WaitKind::timer;
    case Resource::remote:
      return kind == WaitKind::remote;
    case Resource::cpu:
    case Resource::cpus:
    case Resource::held:
    case Resource::waited:
    case Resource::threads:
    case Resource::runnable:
      break;
  }
  return false;
}

template <class Key>
Key longest(const std::map<Key, Nanos>& times, Key none) {
  const auto found = std::max_element(times.begin(), times.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return found == times.end() ? none : found->first;
}

PartUse cpu_use(const Uses& uses, const Change& part) {
  PartUse out;
  std::map<GroupId, Nanos> by_group;
  for (GroupId id = 0; id < uses.groups.size(); ++id) {
    if (part.resource == Resource::cpus || part.group == id) {
      by_group[id] =
          part.resource == Resource::cpus ? uses.groups[id].runnable_ns : uses.groups[id].running_ns;
      out.time_ns += by_group[id];
    }
  }
  out.group = longest(by_group, kNoGroup);
  out.group_ns = by_group[out.group];
  return out;
}

/// The threads of a group that waited for the part.
class Waiters {
 public:
  Waiters(const Trace& trace, const std::map<ActorId, Nanos>& waited) {
    for (const auto& [thread, wait_ns] : waited) {
      if (wait_ns == 0) continue;
      const Actor& actor = trace.actors[thread];
      lives_ns_ += known_life(actor, trace.window);
      waited_ns_ += wait_ns;
      threads_.insert(thread);
    }
  }
  double share() const { return of_lives(waited_ns_); }
  double of_lives(Nanos ns) const {
    return lives_ns_ > 0 ? static_cast<double>(ns) / static_cast<double>(lives_ns_) : 0;
  }
  bool contains(ActorId thread) const { return threads_.contains(thread); }
  std::size_t count() const { return threads_.size(); }

 private:
  std::set<ActorId> threads_;
  Nanos waited_ns_ = 0;
  Nanos lives_ns_ = 0;
};

void add_service(const Trace& trace, const WaitKinds& kinds, const Uses& uses, ServiceId service,
                 const Waiters& waiters, PartUse& out) {
  out.waiters = waiters.count();
  out.busy = out.group == kNoGroup ? 0 : waiters.of_lives(uses.groups[out.group].running_ns);
  Nanos polls_ns = 0;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.wait_class == WaitClass::poll && kinds.services.of_site[id] != service &&
        waiters.contains(site.thread)) {
      polls_ns += uses.sites[id].wait_ns;
    }
  }
  out.other_polls = waiters.of_lives(polls_ns);
}

PartUse wait_use(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
                 const std::vector<ServiceUse>& services, const Change& part) {
  PartUse out;
  std::map<GroupId, Nanos> by_group;
  std::vector<SiteId> sites;
  // A disk takes no more of a wait that the kernel held back than the part in which it had requests.
  const auto taken = [&](SiteId id) {
    const bool is_held = kinds.of_site[id] == WaitKind::paused && part.resource != Resource::pause;
    return is_held ? uses.sites[id].served_ns : uses.sites[id].wait_ns;
  };
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const GroupId group = groups.group_of[site.thread];
    const bool is_part = part.service != kNoService ? kinds.services.of_site[id] == part.service
                                                    : belongs(part, group, trace, site, kinds.of_site[id]);
    if (!kinds.below_devices[group] && is_part) {
      out.time_ns += taken(id);
      out.served_ns += uses.sites[id].served_ns;
      out.waits += site.in_flight ? 0 : uses.sites[id].ended;
      by_group[group] += taken(id);
      sites.push_back(id);
    }
  }
  out.group = longest(by_group, kNoGroup);
  out.group_ns = by_group[out.group];
  std::map<StackId, Nanos> by_stack;
  std::map<PeerId, Nanos> by_peer;
  std::map<ActorId, Nanos> by_thread;
  for (const SiteId id : sites) {
    if (groups.group_of[trace.sites[id].thread] == out.group) {
      by_stack[trace.sites[id].wait_stack] += taken(id);
      by_peer[trace.sites[id].peer] += taken(id);
      by_thread[trace.sites[id].thread] += taken(id);
    }
  }
  out.stack = longest(by_stack, kNoStack);
  out.stack_ns = sites.empty() ? 0 : by_stack[out.stack];
  out.fixed_rate = std::any_of(sites.begin(), sites.end(), [&](SiteId id) {
    return trace.sites[id].wait_stack == out.stack && is_at_fixed_rate(kinds.sleeps.of_site[id]);
  });
  out.peer = part.resource == Resource::remote ? longest(by_peer, kNoPeer) : kNoPeer;
  const Waiters waiters(trace, by_thread);
  out.share = waiters.share();
  if (part.service != kNoService) {
    out.service = services[part.service];
    add_service(trace, kinds, uses, part.service, waiters, out);
  }
  out.sites = std::move(sites);
  return out;
}

}  // namespace

std::vector<PartUse> uses_of_parts(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                   const Uses& uses, const std::vector<ServiceUse>& services,
                                   const std::vector<Change>& parts) {
  std::vector<PartUse> out;
  for (const Change& part : parts) {
    const bool of_cpu = part.resource == Resource::cpu || part.resource == Resource::cpus;
    out.push_back(of_cpu ? cpu_use(uses, part) : wait_use(trace, groups, kinds, uses, services, part));
  }
  return out;
}

}  // namespace offwait
