// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/changed_order.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>

#include "base/side_by_side.h"
#include "replay/much_waited_for.h"
#include "replay/timed_clients.h"

namespace offwait {

namespace {

/// This many waits tell as well as all what a holder of a lock waits for.
constexpr std::size_t kWaitsThatTell = 1'000'000;

bool alters_a_disk(const Scenario& scenario) {
  return std::any_of(scenario.begin(), scenario.end(), [](const Change& change) {
    return change.resource == Resource::disk || change.resource == Resource::io;
  });
}

bool is_for_a_lock(const WaitKinds& kinds, SiteId site) {
  return kinds.of_site[site] == WaitKind::lock || kinds.of_site[site] == WaitKind::looked;
}

/// A wait of a thread for a lock, until it ran again.
struct LockWait {
  Nanos from = 0;
  Nanos to = 0;
  Nanos before = 0;  ///< length of the thread's earlier waits, added up
};

/// How long the thread waited for locks until `at`. `waits` are disjoint, in order.
Nanos waited_until(const std::vector<LockWait>& waits, Nanos at) {
  const auto after =
      std::partition_point(waits.begin(), waits.end(), [at](const LockWait& one) { return one.from < at; });
  if (after == waits.begin()) return 0;
  const LockWait& last = *std::prev(after);
  return last.before + std::min(at, last.to) - last.from;
}

/// By ActorId: the waits for locks among the first waits of the trace.
std::vector<std::vector<LockWait>> waits_for_locks(const Trace& trace, const WaitKinds& kinds,
                                                   std::size_t first) {
  std::vector<std::vector<LockWait>> out(trace.actors.size());
  for (std::size_t id = 0; id < first; ++id) {
    const Wait& wait = trace.waits[id];
    if (!is_for_a_lock(kinds, wait.site)) continue;
    std::vector<LockWait>& own = out[trace.sites[wait.site].thread];
    LockWait one{wait.block, std::min(wait.run, trace.window.end), 0};
    if (!own.empty()) one.before = own.back().before + own.back().to - own.back().from;
    own.push_back(one);
  }
  return out;
}

/// What happens to a group whose threads answer others, and sleep.
struct Moment {
  /// In this order at one instant.
  enum class What : std::uint8_t { asks, answered, slept, sleeps };
  Nanos at = 0;
  What what = What::asks;
  GroupId group = kNoGroup;
  bool operator<(const Moment& other) const { return std::tie(at, what) < std::tie(other.at, other.what); }
};

/// Counts when the threads of a group that answer others sleep.
struct Answerers {
  bool sleep = false;
  bool answer = false;
  std::size_t asked = 0;        ///< waits for them under way
  std::size_t asleep = 0;       ///< threads
  std::uint64_t answers = 0;    ///< in all
  std::uint64_t with_more = 0;  ///< after which more threads waited than the group could be serving
  std::uint64_t sleeps = 0;     ///< in all
  std::uint64_t with_work = 0;  ///< when as many waited

  /// One thread just answered, or goes to sleep; each of the others that are awake may serve one request.
  bool more_are_asked(std::size_t threads) const { return asked > 0 && asked + asleep + 1 > threads; }

  void take(Moment::What what, std::size_t threads) {
    switch (what) {
      case Moment::What::asks:
        ++asked;
        return;
      case Moment::What::answered:
        --asked;
        ++answers;
        with_more += more_are_asked(threads) ? 1U : 0U;
        return;
      case Moment::What::slept:
        --asleep;
        return;
      case Moment::What::sleeps:
        ++sleeps;
        with_work += more_are_asked(threads) ? 1U : 0U;
        ++asleep;
        return;
    }
  }

  /// If it did not matter to them whether others wait, they would go to sleep with work as often as there is
  /// work after an answer. That many sleeps, and hardly one of them with work, are no chance.
  bool sleep_only_when_idle() const {
    constexpr double kFewest = 5;
    constexpr double kHardly = 0.1;
    if (answers == 0) return false;
    const double expected =
        static_cast<double>(sleeps) * static_cast<double>(with_more) / static_cast<double>(answers);
    return expected >= kFewest && static_cast<double>(with_work) <= kHardly * expected;
  }
};

/// By number: the threads that went on with it.
using Batches = std::map<std::size_t, std::set<ActorId>>;

/// Whether more than one thread is served at once in more than a tenth of the cases, and another number of
/// them than most often in more than a tenth.
bool come_in_batches(const Batches& batches) {
  constexpr std::size_t kOneIn = 10;
  std::map<std::size_t, std::size_t> times;
  for (const auto& [number, threads] : batches) ++times[threads.size()];
  std::size_t most_often = 0;
  for (const auto& [size, number] : times) most_often = std::max(most_often, number);
  const std::size_t several = batches.size() - (times.contains(1) ? times.at(1) : 0);
  return kOneIn * several > batches.size() && kOneIn * (batches.size() - most_often) > batches.size();
}

}  // namespace

ChangedOrder::ChangedOrder(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                           const Uses& uses, const WaitsForSleepers& sleepers)
    : uses_(uses), sleepers_(sleepers), for_any_(groups.groups.size()), idle_sleepers_(groups.groups.size()) {
  side_by_side(
      [&] {
        find_waits_for_locks(trace, groups, kinds);
        find_waits_for_any(trace, groups, kinds);
        timed_clients_ = timed_clients_of(trace, groups, kinds, uses_);
        find_idle_sleepers(trace, groups, kinds);
      },
      [&] {
        shared_requests_ = SharedRequests(trace, groups, kinds, uses_);
        find_batches(trace, groups, kinds);
      });
}

void ChangedOrder::find_waits_for_locks(const Trace& trace, const ThreadGroups& groups,
                                        const WaitKinds& kinds) {
  const auto is_behind_others = [&](SiteId id) {
    const WaitSite& site = trace.sites[id];
    return kinds.of_site[id] == WaitKind::lock && groups.group_of[site.waker] != groups.group_of[site.thread];
  };
  bool any = false;
  for (SiteId id = 0; id < trace.sites.size(); ++id) any = any || is_behind_others(id);
  if (!any) return;
  const std::size_t first = std::min(trace.waits.size(), kWaitsThatTell);
  const std::vector<std::vector<LockWait>> of_thread = waits_for_locks(trace, kinds, first);
  // By site: the length of the waits, and the part of it in which the threads that ended them did not wait
  // for locks themselves.
  std::vector<double> all(trace.sites.size());
  std::vector<double> own(trace.sites.size());
  for (std::size_t id = 0; id < first; ++id) {
    const Wait& wait = trace.waits[id];
    if (!is_behind_others(wait.site)) continue;
    const Nanos from = std::max(wait.block, trace.window.begin);
    const Nanos to = std::min(wait.wake, trace.window.end);
    if (from >= to) continue;
    const std::vector<LockWait>& of_holder = of_thread[trace.sites[wait.site].waker];
    all[wait.site] += static_cast<double>(to - from);
    own[wait.site] +=
        static_cast<double>(to - from - (waited_until(of_holder, to) - waited_until(of_holder, from)));
  }
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (!is_behind_others(id) || all[id] <= 0) continue;
    const WaitSite& site = trace.sites[id];
    behind_[{groups.group_of[site.thread], groups.group_of[site.waker]}] +=
        static_cast<Nanos>(static_cast<double>(uses_.sites[id].wait_ns) * own[id] / all[id]);
  }
}

void ChangedOrder::find_waits_for_any(const Trace& trace, const ThreadGroups& groups,
                                      const WaitKinds& kinds) {
  // By thread, in order: the times at which its requests to disks were issued, and at which they were
  // complete.
  std::vector<std::vector<Nanos>> issued(trace.actors.size());
  std::vector<std::vector<Nanos>> complete(trace.actors.size());
  for (const DiskIo& io : trace.disk_ios) {
    if (io.thread == kNoActor) continue;
    issued[io.thread].push_back(io.issue);
    complete[io.thread].push_back(io.complete);
  }
  for (std::vector<Nanos>& times : issued) std::sort(times.begin(), times.end());
  for (std::vector<Nanos>& times : complete) std::sort(times.begin(), times.end());
  const auto until = [](const std::vector<Nanos>& times, Nanos at) {
    return std::upper_bound(times.begin(), times.end(), at) - times.begin();
  };
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (kinds.of_site[wait.site] != WaitKind::disk || wait.wake == kNever) continue;
    const bool goes_on = until(issued[site.thread], wait.wake) > until(complete[site.thread], wait.wake);
    if (site.any_request || goes_on) {
      for_any_[groups.group_of[site.thread]] += clipped(wait.block, wait.wake, trace.window);
    }
  }
}

void ChangedOrder::find_idle_sleepers(const Trace& trace, const ThreadGroups& groups,
                                      const WaitKinds& kinds) {
  const auto sleeps = [&](SiteId id) {
    return kinds.of_site[id] == WaitKind::timer && trace.sites[id].wait_class == WaitClass::sleep;
  };
  const auto asks = [&](SiteId id) {
    const WaitSite& site = trace.sites[id];
    return kinds.of_site[id] == WaitKind::handover &&
           groups.group_of[site.waker] != groups.group_of[site.thread];
  };
  std::vector<Answerers> answerers(groups.groups.size());
  std::set<std::pair<GroupId, GroupId>> asked;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (sleeps(id)) answerers[groups.group_of[site.thread]].sleep = true;
    if (!asks(id)) continue;
    answerers[groups.group_of[site.waker]].answer = true;
    asked.emplace(groups.group_of[site.thread], groups.group_of[site.waker]);
  }
  std::vector<Moment> moments;
  const auto add = [&](GroupId group, const Wait& wait, Moment::What begins, Moment::What ends) {
    if (!answerers[group].sleep || !answerers[group].answer || wait.block == wait.wake) return;
    moments.push_back({wait.block, begins, group});
    if (wait.wake != kNever) moments.push_back({wait.wake, ends, group});
  };
  const std::size_t first = std::min(trace.waits.size(), kWaitsThatTell);
  for (std::size_t id = 0; id < first; ++id) {
    const Wait& wait = trace.waits[id];
    const WaitSite& site = trace.sites[wait.site];
    if (sleeps(wait.site)) {
      add(groups.group_of[site.thread], wait, Moment::What::sleeps, Moment::What::slept);
    } else if (asks(wait.site)) {
      add(groups.group_of[site.waker], wait, Moment::What::asks, Moment::What::answered);
    }
  }
  std::sort(moments.begin(), moments.end());
  for (const Moment& moment : moments) {
    answerers[moment.group].take(moment.what, groups.groups[moment.group].members.size());
  }
  for (GroupId id = 0; id < answerers.size(); ++id) {
    if (answerers[id].sleep_only_when_idle()) idle_sleepers_[id].push_back(id);
  }
  for (const auto& [asking, answering] : asked) {
    if (answerers[answering].sleep_only_when_idle()) idle_sleepers_[asking].push_back(answering);
  }
}

bool ChangedOrder::asks_an_idle_sleeper(GroupId group, const Scenario& scenario) const {
  const std::vector<GroupId>& sleepers = idle_sleepers_[group];
  return std::any_of(sleepers.begin(), sleepers.end(), [&scenario](GroupId sleeper) {
    return std::none_of(scenario.begin(), scenario.end(), [sleeper](const Change& change) {
      return change.resource == Resource::sleep && (change.group == sleeper || change.code != kNoCode);
    });
  });
}

bool ChangedOrder::has_timed_clients(GroupId group, const Scenario& scenario) const {
  const std::set<GroupId>& clients = timed_clients_[group];
  return !clients.empty() && std::none_of(scenario.begin(), scenario.end(), [&clients](const Change& change) {
    return change.resource == Resource::sleep && (change.code != kNoCode || clients.contains(change.group));
  });
}

std::optional<double> ChangedOrder::least_gain(const Progress& progress, const Scenario& scenario) const {
  std::optional<double> out;
  const auto at_least = [&out](double gain) { out = std::min(out.value_or(gain), std::max(0.0, gain)); };
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId group : part.groups) {
      const bool goes_on_with_any = is_much(for_any_[group], uses_.groups[group].lifetime_ns);
      if (goes_on_with_any && !alters_a_disk(scenario)) at_least(0);
      if (asks_an_idle_sleeper(group, scenario) || has_timed_clients(group, scenario)) at_least(0);
    }
  }
  if (serves_in_batches(progress) && alters_what_batches_wait_for(scenario)) at_least(0);
  for (const Change& change : scenario) {
    const bool sooner = change.device != kNoActor && !change.shared && change.factor < 1;
    const std::optional<double> least =
        sooner ? shared_requests_.least_gain(change.device, change.factor) : std::nullopt;
    if (least) at_least(*least);
  }
  return out;
}

bool ChangedOrder::alters_what_batches_wait_for(const Scenario& scenario) const {
  return std::any_of(scenario.begin(), scenario.end(), [this](const Change& change) {
    if (change.factor >= 1) return false;
    if (change.resource == Resource::sleep) {
      return change.code != kNoCode ? !batches_by_time_.empty() : batches_by_time_.contains(change.group);
    }
    if (change.resource != Resource::remote) return false;
    return change.code != kNoCode
               ? !batches_by_remote_.empty()
               : batches_by_remote_.contains(change.group) || services_of_batches_.contains(change.service);
  });
}

std::optional<double> ChangedOrder::most_gain(const Progress& progress, const Scenario& scenario) const {
  std::optional<double> out;
  for (const Change& change : scenario) {
    if (change.resource != Resource::sleep || change.code != kNoCode || change.factor >= 1) {
      return std::nullopt;
    }
    for (const ProgressPart& part : progress.parts) {
      std::optional<double> of_part;
      for (const GroupId group : part.groups) {
        const auto found = sleepers_.find({group, change.group});
        if (found == sleepers_.end() || !is_much(found->second.all_ns, found->second.lives_ns)) continue;
        const double asleep = static_cast<double>(found->second.asleep_ns + found->second.others_ns) /
                              static_cast<double>(found->second.lives_ns);
        of_part = std::max(of_part.value_or(0), 1 / std::max(1 - asleep, 0.01) - 1);
      }
      if (!of_part) return std::nullopt;
      out = std::max(out.value_or(0), *of_part);
    }
  }
  return out;
}

bool ChangedOrder::serves_in_batches(const Progress& progress) const {
  return std::any_of(progress.parts.begin(), progress.parts.end(), [this](const ProgressPart& part) {
    return std::any_of(part.groups.begin(), part.groups.end(),
                       [this](GroupId group) { return in_batches_.contains(group); });
  });
}

bool ChangedOrder::compete(const Progress& progress) const {
  const auto waits = [this](GroupId one, GroupId other) {
    const auto found = behind_.find({one, other});
    return found != behind_.end() && is_much(found->second, uses_.groups[one].lifetime_ns);
  };
  return std::any_of(behind_.begin(), behind_.end(), [&](const auto& pair) {
    const GroupId one = pair.first.first;
    const GroupId other = pair.first.second;
    return waits(one, other) && waits(other, one) &&
           std::any_of(progress.parts.begin(), progress.parts.end(), [one](const ProgressPart& part) {
             return std::find(part.groups.begin(), part.groups.end(), one) != part.groups.end();
           });
  });
}

void ChangedOrder::find_batches(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds) {
  const std::set<std::pair<GroupId, GroupId>> waiting = much_waited_for(trace, groups, kinds, uses_);
  if (waiting.empty()) return;
  // By thread, kind of wait and waiting group: whom the thread served after each of its own waits.
  std::map<std::tuple<ActorId, WaitKind, GroupId>, Batches> sizes;
  std::map<std::pair<ActorId, WaitKind>, std::vector<Nanos>> ends;  // of its own waits
  const std::size_t most = std::min(trace.waits.size(), kWaitsThatTell);
  for (std::size_t id = 0; id < most; ++id) {
    const Wait& wait = trace.waits[id];
    const WaitKind kind = kinds.of_site[wait.site];
    if ((kind == WaitKind::timer || kind == WaitKind::remote) && wait.wake != kNever) {
      ends[{trace.sites[wait.site].thread, kind}].push_back(wait.wake);
    }
  }
  for (std::size_t id = 0; id < most; ++id) {
    const Wait& wait = trace.waits[id];
    const WaitSite& site = trace.sites[wait.site];
    if (wait.wake == kNever || kinds.of_site[wait.site] != WaitKind::handover) continue;
    const GroupId waiter = groups.group_of[site.thread];
    if (!waiting.contains({waiter, groups.group_of[site.waker]})) continue;
    for (const WaitKind kind : {WaitKind::timer, WaitKind::remote}) {
      const auto own = ends.find({site.waker, kind});
      if (own == ends.end()) continue;
      const auto after = std::upper_bound(own->second.begin(), own->second.end(), wait.wake);
      if (after == own->second.begin()) continue;
      sizes[{site.waker, kind, waiter}][static_cast<std::size_t>(after - own->second.begin())].insert(
          site.thread);
    }
  }
  for (const auto& [key, of_batches] : sizes) {
    const auto& [thread, kind, waiter] = key;
    if (!come_in_batches(of_batches)) continue;
    in_batches_.insert(waiter);
    (kind == WaitKind::timer ? batches_by_time_ : batches_by_remote_).insert(groups.group_of[thread]);
  }
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const ServiceId service = kinds.services.of_site[id];
    if (service != kNoService && batches_by_remote_.contains(groups.group_of[trace.sites[id].thread])) {
      services_of_batches_.insert(service);
    }
  }
}

}  // namespace offwait
