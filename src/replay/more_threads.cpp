// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/more_threads.h"

#include <algorithm>
#include <set>

#include "progress/progress.h"

namespace offwait {

namespace {

/// If one thread waits for the group it is being served; if two do, the second one queues.
constexpr double kQueue = 2;
/// A group outside of the target holds threads up only if it has this many requests at a time, on average: it
/// is always busy with one.
constexpr double kAlwaysOne = 0.9;

class Pools {
 public:
  Pools(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
        const Occupied& occupied)
      : trace_(trace),
        groups_(groups),
        kinds_(kinds),
        uses_(uses),
        requests_(requests_of(trace, groups)),
        occupied_(occupied),
        workers_(groups.groups.size()),
        answers_(groups.groups.size()),
        threads_waiting_(groups.groups.size()),
        requests_waiting_(groups.groups.size()),
        window_(static_cast<double>(std::max<Nanos>(trace.window.length(), 1))) {
    for (const Service& service : kinds.services.all) {
      for (const GroupId group : service.answering) answers_[group] = true;
    }
    find_workers();
    for (SiteId id = 0; id < trace.sites.size(); ++id) count_waiting(id);
  }

  std::vector<Pool> run() const {
    std::vector<Pool> out;
    for (GroupId id = 0; id < groups_.groups.size(); ++id) {
      const ThreadGroup& group = groups_.groups[id];
      if (uses_.groups[id].lifetime_ns <= 0 || group.kernel || group.recorder) continue;
      if (group.outside && !answers_[id]) continue;
      const double at_a_time = group.outside ? asked_at_a_time(id) : threads(id);
      const double requests = at_a_time + requests_[id].unread;
      const double waiting = threads_waiting_[id] + requests_waiting_[id];
      if (is_never_idle(id) && requests >= kQueue * at_a_time) {
        out.push_back({id, at_a_time, requests, true});
      } else if (waiting >= kQueue * at_a_time && (!group.outside || at_a_time >= kAlwaysOne)) {
        out.push_back({id, at_a_time, waiting, requests_waiting_[id] > threads_waiting_[id]});
      }
    }
    return out;
  }

 private:
  /// The threads of a group that do its work.
  struct Workers {
    Nanos lives_ns = 0;
    Nanos idle_ns = 0;
  };

  /// Where threads of a group respond to clients, threads that neither respond nor have much else to do are
  /// left out: they have another purpose, such as a pool's poller.
  void find_workers() {
    std::vector<bool> responds(trace_.actors.size());
    std::vector<bool> any(groups_.groups.size());
    for (const Responses& responses : trace_.responses) {
      responds[responses.thread] = true;
      any[groups_.group_of[responses.thread]] = true;
    }
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      const GroupId group = groups_.group_of[id];
      if (group == kNoGroup) continue;
      const Actor& actor = trace_.actors[id];
      const Nanos life_ns = known_life(actor, trace_.window);
      const Nanos idle_ns = occupied_.idle_ns[id];
      if (any[group] && !responds[id] && is_much(idle_ns, life_ns)) continue;
      workers_[group].lives_ns += life_ns;
      workers_[group].idle_ns += idle_ns;
    }
  }

  double threads(GroupId id) const { return static_cast<double>(workers_[id].lives_ns) / window_; }
  /// How many requests a service gets at a time. Those on unix sockets are not timed.
  double asked_at_a_time(GroupId id) const {
    const double counted = requests_[id].under_way;
    return counted > 0 ? counted : static_cast<double>(occupied_.ns[id]) / window_;
  }
  bool is_never_idle(GroupId id) const { return !is_much(workers_[id].idle_ns, workers_[id].lives_ns); }

  void count_waiting(SiteId id) {
    const WaitSite& site = trace_.sites[id];
    if (kinds_.of_site[id] != WaitKind::handover) return;
    const GroupPlace place = place_of(groups_, site);
    const GroupId waiter = place.first;
    const GroupId waker = groups_.group_of[site.waker];
    if (waker == waiter) return;
    const auto waited = static_cast<double>(uses_.sites[id].wait_ns);
    if (!occupied_.places_for_clients.contains(place)) {
      threads_waiting_[waker] += waited / window_;
      return;
    }
    if (!groups_.groups[waker].outside && !is_never_idle(waker)) return;
    // All requests that an event loop has under way wait for what the loop waits for.
    const GroupUse& use = uses_.groups[waiter];
    const Nanos blocked_ns = use.lifetime_ns - use.running_ns - use.runnable_ns;
    const double under_way = std::max(threads(waiter), requests_[waiter].under_way);
    if (blocked_ns > 0) requests_waiting_[waker] += under_way * waited / static_cast<double>(blocked_ns);
  }

  const Trace& trace_;
  const ThreadGroups& groups_;
  const WaitKinds& kinds_;
  const Uses& uses_;
  std::vector<Requests> requests_;
  const Occupied& occupied_;
  std::vector<Workers> workers_;          ///< by GroupId
  std::vector<bool> answers_;             ///< by GroupId: to the target
  std::vector<double> threads_waiting_;   ///< by GroupId: of other groups, on average
  std::vector<double> requests_waiting_;  ///< by GroupId: in event loops of other groups, on average
  double window_;
};

/// Whether threads of the service were idle for some of the time. Threads of it that were not recorded are
/// not known.
bool has_idle_threads(const Service& service, const Uses& uses, const Occupied& occupied) {
  Nanos lives_ns = 0;
  Nanos occupied_ns = 0;
  for (const GroupId group : service.answering) {
    lives_ns += uses.groups[group].lifetime_ns;
    occupied_ns += occupied.ns[group];
  }
  return is_much(lives_ns - occupied_ns, lives_ns);
}

}  // namespace

std::vector<Pool> pools_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                           const Uses& uses, const Occupied& occupied, std::size_t most) {
  std::vector<Pool> out = Pools(trace, groups, kinds, uses, occupied).run();
  std::stable_sort(out.begin(), out.end(),
                   [](const Pool& a, const Pool& b) { return a.waiting > b.waiting; });
  out.resize(std::min(out.size(), most));
  return out;
}

Scenario shared_by_more_threads(const Change& change, const Trace& trace, const ThreadGroups& groups,
                                const WaitKinds& kinds, const Uses& uses, const Occupied& occupied,
                                bool cpus_short) {
  Scenario out;
  if (!cpus_short) out.push_back({Resource::cpu, change.group, kNoActor, change.factor});
  out.push_back({Resource::sleep, change.group, kNoActor, change.factor});
  out.push_back({Resource::remote, change.group, kNoActor, change.factor});
  for (const auto& [disk, ns] : uses.groups[change.group].disk_ns) {
    out.push_back({Resource::io, change.group, disk, change.factor});
  }
  std::set<ServiceId> asked;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const bool asks = groups.group_of[trace.sites[id].thread] == change.group;
    if (asks && kinds.services.of_site[id] != kNoService) asked.insert(kinds.services.of_site[id]);
  }
  Scenario services;
  for (const ServiceId id : asked) {
    const Service& service = kinds.services.all[id];
    if (!service.answering.empty() && has_idle_threads(service, uses, occupied)) {
      services.push_back({Resource::remote, kNoGroup, kNoActor, change.factor, id});
    }
  }
  services = with_parts_of_services(services, kinds.services, uses);
  out.insert(out.end(), services.begin(), services.end());
  for (Change& part : out) part.shared = true;
  return out;
}

}  // namespace offwait
