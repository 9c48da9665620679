// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/wait_kinds.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/number_map.h"
#include "base/side_by_side.h"
#include "code/roles.h"

namespace offwait {

namespace {

/// What functions' names say of waits in each stack.
struct NamesOfStacks {
  std::vector<WaitsFor> what;     ///< by StackId
  std::vector<FrameId> manager;   ///< by StackId: SitesOfWaits::manager
  std::vector<bool> retakes;      ///< by StackId: a mutex is taken in a wait for a condition
  std::vector<bool> own_object;   ///< by StackId: SitesOfWaits::own_object
  std::vector<bool> way_to_wait;  ///< by FrameId
};

Told told_by(WaitsFor what) {
  if (is_lock(what)) return Told::lock;
  return what == WaitsFor::nothing || what == WaitsFor::anything ? Told::nothing : Told::handover;
}

NamesOfStacks names_of_stacks(const Trace& trace) {
  const std::vector<Roles> roles = roles_of(trace.frames);
  NamesOfStacks out;
  for (const Stack& stack : trace.stacks) {
    const std::vector<FrameId>& frames = stack.frames;
    const WaitsFor what =
        waits_for(frames.size(), [&](std::size_t i) -> const Roles& { return roles[frames[i]]; });
    const bool hands_over = told_by(what) == Told::handover;
    const auto manager = std::find_if(frames.begin(), frames.end(), [&](FrameId frame) {
      return takes_its_locks(roles[frame].manager) ||
             (hands_over && roles[frame].manager == LockManager::storage_engine);
    });
    out.what.push_back(what);
    out.manager.push_back(manager == frames.end() ? kNoFrame : *manager);
    out.retakes.push_back(is_lock(what) && std::any_of(frames.begin(), frames.end(), [&](FrameId frame) {
                            return roles[frame].retakes_mutex;
                          }));
    out.own_object.push_back(
        std::any_of(frames.begin(), frames.end(), [&](FrameId frame) { return roles[frame].own_object; }));
  }
  for (const Roles& of_frame : roles) out.way_to_wait.push_back(of_frame.way_to_wait);
  return out;
}

std::uint64_t pair_of(std::uint32_t a, ObjectId futex) { return (std::uint64_t{a} << 32U) | futex; }

/// By SiteId: whether most of its waits are on futexes that the waiting group uses both ways: its threads
/// wait on them, and end waits on them.
std::vector<bool> used_both_ways(const Trace& trace, const ThreadGroups& groups,
                                 const std::vector<bool>& asked) {
  std::vector<bool> out(trace.sites.size());
  if (std::find(asked.begin(), asked.end(), true) == asked.end()) return out;
  struct Waits {
    SiteId site = 0;
    ObjectId futex = kNoObject;
    std::int64_t count = 0;
  };
  std::vector<Waits> waits;
  NumberMap<std::size_t> known;  // by site and futex: where in `waits`
  for (const Wait& wait : trace.waits) {
    if (!asked[wait.site] || wait.object == kNoObject ||
        trace.objects[wait.object].kind != Object::Kind::futex) {
      continue;
    }
    const auto [at, added] = known.try_emplace(pair_of(wait.site, wait.object), waits.size());
    if (added) waits.push_back({wait.site, wait.object});
    ++waits[at].count;
  }
  std::unordered_set<std::uint64_t> ended;  // futexes on which the group's threads end waits
  for (const Waits& here : waits) {
    ended.insert(pair_of(groups.group_of[trace.sites[here.site].waker], here.futex));
  }
  std::vector<std::int64_t> balance(trace.sites.size());
  for (const Waits& here : waits) {
    const bool both = ended.contains(pair_of(groups.group_of[trace.sites[here.site].thread], here.futex));
    balance[here.site] += both ? here.count : -here.count;
  }
  std::transform(balance.begin(), balance.end(), out.begin(), [](std::int64_t sum) { return sum > 0; });
  return out;
}

}  // namespace

std::vector<bool> below_devices(const Trace& trace, const ThreadGroups& groups) {
  std::set<std::pair<GroupId, GroupId>> serves;  // who ended waits of whom
  for (const WaitSite& site : trace.sites) {
    const GroupId waker = site.waker == kNoActor ? kNoGroup : groups.group_of[site.waker];
    const GroupId waiter = groups.group_of[site.thread];
    if (waker != kNoGroup && waker != waiter && groups.groups[waker].outside &&
        (site.wait_class != WaitClass::disk || groups.groups[waiter].kernel)) {
      serves.emplace(waker, waiter);
    }
  }
  std::vector<bool> only_below;  // as far as is known yet
  std::vector<bool> below;
  for (const ThreadGroup& group : groups.groups) {
    only_below.push_back(group.outside || group.kernel);
    below.push_back(group.kernel);
  }
  // Each round settles at least one group.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [waker, waiter] : serves) {
      if (only_below[waker] && !groups.groups[waker].kernel && !only_below[waiter]) {
        only_below[waker] = false;
        changed = true;
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [waker, waiter] : serves) {
      if (only_below[waker] && !below[waker] && below[waiter]) {
        below[waker] = true;
        changed = true;
      }
    }
  }
  return below;
}

namespace {

/// The TCP ports on which threads of the target responded to clients.
std::set<std::uint16_t> served_ports(const Trace& trace) {
  std::set<std::uint16_t> out;
  for (const Responses& responses : trace.responses) {
    if (responses.port != 0 && !trace.actors[responses.thread].outside) out.insert(responses.port);
  }
  return out;
}

/// The service that a thread outside of the target waits for is the target itself: the thread is its client.
bool asks_the_target(const Trace& trace, const WaitSite& site, const std::set<std::uint16_t>& served) {
  const std::optional<std::uint16_t> port = trace.peers[site.peer].port;
  return trace.actors[site.thread].outside && port && served.count(*port) > 0;
}

/// By PeerId: it is on this host, and threads were seen to send its packets.
std::vector<bool> peers_with_senders(const Trace& trace) {
  std::vector<bool> out(trace.peers.size());
  for (const WaitSite& site : trace.sites) {
    const bool by_a_thread = site.waker != kNoActor && trace.actors[site.waker].kind == ActorKind::thread;
    if (site.peer != kNoPeer && (site.in_flight || by_a_thread)) out[site.peer] = true;
  }
  return out;
}

/// What tells who answers when a thread waits for a peer.
struct Answerers {
  std::set<std::uint16_t> served;  ///< ports of the target
  std::vector<bool> with_senders;  ///< peers_with_senders()
};

/// An interface that ends a wait for a service brings its answer, unless the wait is the part after a send,
/// or the target had sent the answer. Where threads are seen to send, a packet without a sender was sent
/// before, and TCP held it back.
bool brings_an_answer(const Trace& trace, const WaitSite& site, const Answerers& answerers) {
  return !site.in_flight && site.peer != kNoPeer && trace.peers[site.peer].role == Peer::Role::service &&
         !answerers.with_senders[site.peer] && !asks_the_target(trace, site, answerers.served);
}

std::optional<WaitKind> kind_by_waker(const Trace& trace, const WaitSite& site, const Answerers& answerers) {
  if (site.waker == kNoActor) {
    return WaitKind::unknown;
  }
  switch (trace.actors[site.waker].kind) {
    case ActorKind::thread:
      return std::nullopt;
    case ActorKind::disk:
      return WaitKind::disk;
    case ActorKind::nic:
      return brings_an_answer(trace, site, answerers) ? WaitKind::remote : WaitKind::transit;
    case ActorKind::timer:
      return WaitKind::timer;
    case ActorKind::irq:
    case ActorKind::softirq:
    case ActorKind::group:
      break;
  }
  return WaitKind::unknown;
}

/// Where most waits are for locks, the kind is that, too.
void call_locks(WaitKinds& kinds) {
  for (SiteId id = 0; id < kinds.of_site.size(); ++id) {
    if (!kinds.locks.mostly_at[id]) continue;
    if (kinds.of_site[id] == WaitKind::timer) kinds.of_site[id] = WaitKind::looked;
    const bool by_a_thread = kinds.of_site[id] == WaitKind::handover || kinds.of_site[id] == WaitKind::lock;
    if (!by_a_thread) continue;
    kinds.of_site[id] = WaitKind::lock;
    kinds.guessed[id] = false;
  }
}

/// Where most time-outs ended because the thread looked and found what others had let go, though no lock is
/// known, they took as long as it took the others: that is no time that the thread asked for.
void call_found(const Trace& trace, WaitKinds& kinds) {
  if (!kinds.time_outs.any_ended_by_looking()) return;
  std::vector<std::int64_t> balance(kinds.of_site.size());
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    if (kinds.time_outs.came_to_nothing(id)) continue;
    balance[trace.waits[id].site] += kinds.time_outs.ended_by_looking(id) ? 1 : -1;
  }
  for (SiteId id = 0; id < kinds.of_site.size(); ++id) {
    if (kinds.of_site[id] == WaitKind::timer && balance[id] > 0) kinds.of_site[id] = WaitKind::unknown;
  }
}

/// WaitKinds::had_before.
std::unordered_map<std::uint32_t, ActorId> those_who_had_it_before(const Trace& trace,
                                                                   const WaitKinds& kinds) {
  std::unordered_map<std::uint32_t, ActorId> out;
  if (std::find(kinds.of_site.begin(), kinds.of_site.end(), WaitKind::looked) == kinds.of_site.end()) {
    return out;
  }
  std::vector<std::uint32_t> ends;
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    const WaitKind kind = kinds.of_site[wait.site];
    const bool got = kind == WaitKind::lock || kind == WaitKind::looked;
    if (got && wait.wake != kNever && !kinds.time_outs.came_to_nothing(id)) ends.push_back(id);
  }
  std::stable_sort(ends.begin(), ends.end(), [&trace](std::uint32_t a, std::uint32_t b) {
    return trace.waits[a].wake < trace.waits[b].wake;
  });
  std::vector<ActorId> last(kinds.locks.all.size(), kNoActor);
  for (const std::uint32_t id : ends) {
    const LockId lock = kinds.locks.of(trace.waits[id]);
    if (lock == kNoLock) continue;
    const ActorId thread = trace.sites[trace.waits[id].site].thread;
    const bool looked = kinds.of_site[trace.waits[id].site] == WaitKind::looked;
    if (looked && last[lock] != kNoActor && last[lock] != thread) out[id] = last[lock];
    last[lock] = thread;
  }
  return out;
}

/// Whether a thread has nothing to do in waits of this kind, or waits for a lock.
bool is_idle(WaitKind kind) {
  switch (kind) {
    case WaitKind::handover:
    case WaitKind::transit:
    case WaitKind::timer:
    case WaitKind::throttled:
    case WaitKind::stopped:
    case WaitKind::unknown:
    case WaitKind::lock:
    case WaitKind::looked:
      return true;
    case WaitKind::below:
    case WaitKind::disk:
    case WaitKind::remote:
    case WaitKind::paused:
      break;
  }
  return false;
}

/// WaitKinds::disk_parts; and waits for disks become pauses where these parts say so.
void find_pauses(const Trace& trace, WaitKinds& kinds) {
  std::vector<bool> asked(kinds.of_site.size());
  std::vector<bool> at_disks(kinds.of_site.size());
  for (SiteId id = 0; id < kinds.of_site.size(); ++id) {
    at_disks[id] = kinds.of_site[id] == WaitKind::disk && !trace.actors[trace.sites[id].thread].kernel;
    asked[id] = at_disks[id] || kinds.of_site[id] == WaitKind::below;
  }
  kinds.disk_parts = disk_parts(trace, asked);
  const std::vector<bool> above = pauses_above_disks(trace, at_disks, kinds.disk_parts, kinds.collected);
  for (SiteId id = 0; id < above.size(); ++id) {
    if (above[id]) kinds.of_site[id] = WaitKind::paused;
  }
  std::erase_if(kinds.disk_parts, [&](const DiskPart& part) {
    return kinds.of_site[trace.waits[part.wait].site] == WaitKind::disk;
  });
}

/// Sleeps because another thread is behind are waits for that one.
void call_throttled(const Trace& trace, const ThreadGroups& groups, WaitKinds& kinds) {
  Surroundings known;
  for (SiteId id = 0; id < kinds.of_site.size(); ++id) {
    const WaitKind kind = kinds.of_site[id];
    known.sleeps.push_back(kind == WaitKind::timer && trace.sites[id].wait_class == WaitClass::sleep);
    known.idle.push_back(is_idle(kind));
    known.device.push_back(kind == WaitKind::disk || kind == WaitKind::below || kind == WaitKind::paused ||
                           kind == WaitKind::remote);
    known.handed.push_back(kind == WaitKind::handover || kind == WaitKind::lock);
  }
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    const ThreadGroup& group = groups.groups[id];
    known.may_pace.push_back(!group.outside && !group.recorder && !kinds.below_devices[id]);
  }
  kinds.sleeps = sleep_paces(trace, groups, known);
  for (SiteId id = 0; id < kinds.of_site.size(); ++id) {
    if (kinds.sleeps.of_site[id] == SleepPace::thread) kinds.of_site[id] = WaitKind::throttled;
  }
}

}  // namespace

WaitKinds kinds_of_waits(const Trace& trace, const ThreadGroups& groups) {
  NamesOfStacks names = names_of_stacks(trace);
  SitesOfWaits sites{std::vector<Told>(trace.sites.size()),
                     std::vector<bool>(trace.sites.size()),
                     std::vector<FrameId>(trace.sites.size(), kNoFrame),
                     std::vector<bool>(trace.sites.size()),
                     std::vector<bool>(trace.sites.size()),
                     std::vector<bool>(trace.sites.size()),
                     std::move(names.way_to_wait)};
  WaitKinds out;
  out.below_devices = below_devices(trace, groups);
  out.guessed.assign(trace.sites.size(), false);
  std::vector<bool> asked(trace.sites.size());
  const Answerers answerers{served_ports(trace), peers_with_senders(trace)};
  const std::vector<bool> pauses = pauses_by_time(trace);
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    WaitKind kind = WaitKind::handover;
    const WaitsFor what = site.wait_stack == kNoStack ? WaitsFor::nothing : names.what[site.wait_stack];
    const Told by_name = told_by(what);
    const FrameId manager = site.wait_stack == kNoStack ? kNoFrame : names.manager[site.wait_stack];
    if (site.wait_class == WaitClass::stopped || site.wait_class == WaitClass::frozen) {
      kind = WaitKind::stopped;
    } else if (pauses[id]) {
      kind = WaitKind::paused;
    } else if (const std::optional<WaitKind> known = kind_by_waker(trace, site, answerers)) {
      kind = *known;
    } else if (out.below_devices[groups.group_of[site.waker]]) {
      kind = WaitKind::below;
    } else if (site.wait_class == WaitClass::lock || site.wait_class == WaitClass::spin) {
      kind = WaitKind::lock;
      sites.told[id] = Told::lock;
      sites.ended_by_threads[id] = true;
    } else if (site.wait_class == WaitClass::futex) {
      sites.told[id] = by_name;
      sites.retakes[id] = site.wait_stack != kNoStack && names.retakes[site.wait_stack];
      sites.own_object[id] = site.wait_stack != kNoStack && names.own_object[site.wait_stack];
      sites.rendezvous[id] = is_rendezvous(what);
      sites.ended_by_threads[id] = true;
      asked[id] = by_name == Told::nothing;
      kind = by_name == Told::lock ? WaitKind::lock : WaitKind::handover;
    } else {
      sites.ended_by_threads[id] = true;
    }
    if (sites.ended_by_threads[id] && sites.told[id] != Told::lock && site.wait_class != WaitClass::lock) {
      sites.manager[id] = manager;
    }
    out.of_site.push_back(kind);
  }
  std::vector<bool> for_locks(sites.told.size());
  std::transform(sites.told.begin(), sites.told.end(), for_locks.begin(),
                 [](Told told) { return told == Told::lock; });
  std::vector<bool> both_ways;
  std::vector<bool> polls;
  side_by_side([&] { out.time_outs = TimeOuts(trace, for_locks); },
               [&] {
                 polls = polling_sites(trace);
                 both_ways = used_both_ways(trace, groups, asked);
                 out.collected = collected_waits(trace);
                 find_pauses(trace, out);
                 out.services = asked_services(trace, groups);
                 find_who_is_behind(out.services, trace, groups, out.below_devices);
               });
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (polls[id] && out.of_site[id] == WaitKind::timer) out.of_site[id] = WaitKind::unknown;
    if (asked[id]) {
      out.of_site[id] = both_ways[id] ? WaitKind::lock : WaitKind::handover;
      out.guessed[id] = true;
    }
  }
  out.locks = locks_of_waits(trace, sites, out.time_outs);
  call_locks(out);
  call_found(trace, out);
  out.had_before = those_who_had_it_before(trace, out);
  call_throttled(trace, groups, out);
  return out;
}

}  // namespace offwait
