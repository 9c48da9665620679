// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/doubts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "replay/much_waited_for.h"

namespace offwait {

namespace {

Doubt doubt_of_waits(Nanos unknown_ns, Nanos guessed_ns, Nanos of_ns) {
  if (!is_much(unknown_ns + guessed_ns, of_ns)) return Doubt::none;
  return unknown_ns > guessed_ns ? Doubt::unknown_wakers : Doubt::guessed_locks;
}

/// By GroupId: the lifetime of the group, times the part of its threads' lives in which it is not known what
/// they waited for. Each thread counts with its weight.
std::vector<Nanos> unknown_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                              const Uses& uses) {
  std::vector<double> unknown(groups.groups.size());
  std::vector<double> lives(groups.groups.size());
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (groups.group_of[id] == kNoGroup) continue;
    const Nanos life_ns = known_life(actor, trace.window);
    lives[groups.group_of[id]] += uses.thread_weights[id] * static_cast<double>(life_ns);
  }
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (kinds.of_site[id] != WaitKind::unknown || uses.sites[id].ended == 0) continue;
    const ActorId thread = trace.sites[id].thread;
    unknown[groups.group_of[thread]] +=
        uses.thread_weights[thread] * static_cast<double>(uses.sites[id].wait_ns);
  }
  std::vector<Nanos> out;
  for (GroupId id = 0; id < unknown.size(); ++id) {
    const double part = lives[id] > 0 ? unknown[id] / lives[id] : 0;
    out.push_back(static_cast<Nanos>(part * static_cast<double>(uses.groups[id].lifetime_ns)));
  }
  return out;
}

/// By GroupId: time in waits for those locks for which at least one wait ended by looking.
std::vector<Nanos> waits_for_looked(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds) {
  std::vector<Nanos> out(groups.groups.size());
  std::vector<bool> looked(kinds.locks.all.size());
  const auto is_looked = [&kinds](SiteId site) { return kinds.of_site[site] == WaitKind::looked; };
  for (const Wait& wait : trace.waits) {
    const LockId lock = is_looked(wait.site) ? kinds.locks.of(wait) : kNoLock;
    if (lock != kNoLock) looked[lock] = true;
  }
  if (std::find(looked.begin(), looked.end(), true) == looked.end()) return out;
  for (const Wait& wait : trace.waits) {
    const LockId lock = kinds.locks.of(wait);
    if (lock == kNoLock || !looked[lock]) continue;
    out[groups.group_of[trace.sites[wait.site].thread]] += clipped(wait.block, wait.wake, trace.window);
  }
  return out;
}

/// The groups that sleep in places of the pace, and those that wait for these for much of their time: the
/// part of their lives for which they, or the others, do.
std::map<GroupId, double> asleep_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                    const Uses& uses, const std::set<std::pair<GroupId, GroupId>>& waiting,
                                    SleepPace pace) {
  std::map<GroupId, double> out;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (kinds.sleeps.of_site[id] != pace) continue;
    const GroupId group = groups.group_of[trace.sites[id].thread];
    out[group] += static_cast<double>(uses.sites[id].wait_ns) /
                  static_cast<double>(std::max<Nanos>(uses.groups[group].lifetime_ns, 1));
  }
  for (bool more = !out.empty(); std::exchange(more, false);) {
    for (const auto& [waiter, waker] : waiting) {
      const auto found = out.find(waker);
      if (found == out.end()) continue;
      const double part = found->second;
      double& of_waiter = out[waiter];
      more |= of_waiter < part;
      of_waiter = std::max(of_waiter, part);
    }
  }
  return out;
}

/// By ServiceId: whether packets without a sender ended much of the waiting for it, though its threads are
/// seen to send.
std::vector<bool> services_held_back(const Trace& trace, const WaitKinds& kinds, const Uses& uses) {
  std::vector<Nanos> held(kinds.services.all.size());
  std::vector<Nanos> all(kinds.services.all.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const ServiceId service = kinds.services.of_site[id];
    if (service == kNoService) continue;
    const bool is_held = kinds.of_site[id] == WaitKind::transit && !trace.sites[id].in_flight;
    held[service] += is_held ? uses.sites[id].wait_ns : 0;
    all[service] += uses.sites[id].wait_ns;
  }
  std::vector<bool> out;
  for (ServiceId id = 0; id < all.size(); ++id) out.push_back(is_much(held[id], all[id]));
  return out;
}

/// By GroupId, of clients: whether more than twice as many of their connections woke threads of the target as
/// the target responded on, whoever the client, and each only a few times: a connection that goes on to send
/// may need no response.
std::vector<bool> unanswered_clients(const Trace& trace, const ThreadGroups& groups, const Uses& uses) {
  constexpr std::uint64_t kConnectionsEach = 2;
  constexpr std::uint64_t kFewWakeups = 10;
  struct Seen {
    std::set<PeerId> connections;
    std::uint64_t wakeups = 0;
  };
  std::vector<Seen> seen(groups.groups.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const bool by_client = site.peer != kNoPeer && trace.peers[site.peer].role == Peer::Role::client &&
                           site.waker != kNoActor && trace.actors[site.waker].outside;
    if (!by_client || trace.actors[site.thread].outside || groups.group_of[site.waker] == kNoGroup) continue;
    Seen& of_group = seen[groups.group_of[site.waker]];
    of_group.connections.insert(site.peer);
    of_group.wakeups += uses.sites[id].ended;
  }
  std::uint64_t responded = 0;
  for (const Responses& counted : trace.responses) {
    responded += trace.actors[counted.thread].outside ? 0 : counted.connections;
  }
  std::vector<bool> out;
  for (const auto& [connections, wakeups] : seen) {
    out.push_back(responded > 0 && connections.size() > kConnectionsEach * responded &&
                  wakeups < kFewWakeups * connections.size());
  }
  return out;
}

/// By GroupId: whether Doubt::gave_up applies to the group, or to one that waits for it (`waiting`).
std::vector<bool> groups_given_up(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                  const Uses& uses, const std::set<std::pair<GroupId, GroupId>>& waiting) {
  struct Ends {
    Nanos by_time = 0;
    Nanos by_others = 0;
  };
  std::vector<std::uint64_t> in_vain(trace.sites.size());
  for (const auto& [wait, whole] : kinds.time_outs.all()) ++in_vain[trace.waits[wait].site];
  std::map<std::pair<GroupId, StackId>, Ends> places;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    // An event loop's time-outs are for what it does from time to time.
    const bool is_one = site.wait_class == WaitClass::futex || site.wait_class == WaitClass::net;
    if (!is_one || groups.group_of[site.thread] == kNoGroup) continue;
    const auto ended = static_cast<Nanos>(uses.sites[id].ended - std::min(uses.sites[id].ended, in_vain[id]));
    Ends& ends = places[{groups.group_of[site.thread], site.wait_stack}];
    const WaitKind kind = kinds.of_site[id];
    if (kind == WaitKind::timer) ends.by_time += ended;
    if (kind == WaitKind::handover || kind == WaitKind::remote) ends.by_others += ended;
  }
  std::vector<Ends> sums(groups.groups.size());
  for (const auto& [place, ends] : places) {
    if (ends.by_others == 0) continue;
    sums[place.first].by_time += ends.by_time;
    sums[place.first].by_others += ends.by_others;
  }
  std::vector<bool> out;
  for (const Ends& ends : sums) {
    out.push_back(ends.by_time > 0 && is_much(ends.by_time, ends.by_time + ends.by_others));
  }
  const std::vector<bool> own = out;
  for (const auto& [waiter, waker] : waiting) {
    if (own[waiter]) out[waker] = true;
  }
  return out;
}

}  // namespace

Doubts::Doubts(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses)
    : groups_(groups),
      uses_(uses),
      unknown_ns_(unknown_of(trace, groups, kinds, uses)),
      looked_ns_(waits_for_looked(trace, groups, kinds)),
      held_back_(services_held_back(trace, kinds, uses)),
      unanswered_(unanswered_clients(trace, groups, uses)),
      runtimes_(runtimes_of(trace)),
      lost_(lost_time(trace)) {
  const std::set<std::pair<GroupId, GroupId>> waiting = much_waited_for(trace, groups, kinds, uses);
  gave_up_ = groups_given_up(trace, groups, kinds, uses, waiting);
  for (const SleepPace pace : {SleepPace::thread, SleepPace::late, SleepPace::unknown}) {
    asleep_[pace] = asleep_of(trace, groups, kinds, uses, waiting, pace);
  }
}

Doubt Doubts::rough(const Progress& progress, const std::optional<PathToExit>& path) const {
  if (lost_.matters()) return Doubt::lost_events;
  if (path) return doubt_of_waits(path->unknown_ns, path->guessed_ns, path->length_ns);
  Nanos unknown_ns = 0;
  Nanos guessed_ns = 0;
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId group : part.groups) {
      unknown_ns += unknown_ns_[group];
      guessed_ns += uses_.groups[group].guessed_ns;
    }
  }
  return doubt_of_waits(unknown_ns, guessed_ns, lifetime_of(progress));
}

Nanos Doubts::lifetime_of(const Progress& progress) const {
  Nanos out = 0;
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId group : part.groups) out += uses_.groups[group].lifetime_ns;
  }
  return out;
}

bool Doubts::looked(const Progress& progress) const {
  Nanos looked_ns = 0;
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId group : part.groups) looked_ns += looked_ns_[group];
  }
  return is_much(looked_ns, lifetime_of(progress));
}

double Doubts::part_asleep(const Progress& progress, SleepPace pace) const {
  const std::map<GroupId, double>& asleep = asleep_.at(pace);
  double out = 0;
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId group : part.groups) {
      const auto found = asleep.find(group);
      if (found != asleep.end()) out = std::max(out, found->second);
    }
  }
  return out;
}

bool Doubts::sleeps(const Progress& progress, SleepPace pace) const {
  return part_asleep(progress, pace) > 0;
}

bool Doubts::held_back(const Scenario& scenario) const {
  return std::any_of(scenario.begin(), scenario.end(), [this](const Change& change) {
    return change.service != kNoService && !change.shared && held_back_[change.service];
  });
}

bool Doubts::unanswered(const Scenario& scenario) const {
  return std::any_of(scenario.begin(), scenario.end(), [this](const Change& change) {
    return change.group != kNoGroup && change.factor < 1 && unanswered_[change.group];
  });
}

bool Doubts::gave_up(const Progress& progress) const {
  return std::any_of(progress.parts.begin(), progress.parts.end(), [this](const ProgressPart& part) {
    return std::any_of(part.groups.begin(), part.groups.end(),
                       [this](GroupId group) { return gave_up_[group]; });
  });
}

bool Doubts::runs_tasks(const Progress& progress) const {
  return std::any_of(progress.parts.begin(), progress.parts.end(), [this](const ProgressPart& part) {
    return std::any_of(part.groups.begin(), part.groups.end(), [this](GroupId group) {
      const std::vector<ActorId>& members = groups_.groups[group].members;
      return std::any_of(members.begin(), members.end(),
                         [this](ActorId thread) { return runtimes_[thread] != Runtime::none; });
    });
  });
}

}  // namespace offwait
