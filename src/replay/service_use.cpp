// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/service_use.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "model/activity.h"

namespace offwait {

namespace {

constexpr std::size_t kMostFollowed = 20'000;
/// The most threads of a chain, each of which waits for the next, that are followed.
constexpr int kDeepest = 6;

class Looking {
 public:
  Looking(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds)
      : trace_(trace), groups_(groups), kinds_(kinds), activity_(trace) {}

  /// `asked`: the waits for the service.
  ServiceUse run(const Service& service, const std::vector<std::uint32_t>& asked) {
    out_ = {};
    disks_.clear();
    behind_.assign(groups_.groups.size(), false);
    for (const GroupId group : service.behind) behind_[group] = true;
    const std::size_t step = asked.size() / kMostFollowed + 1;
    for (std::size_t i = 0; i < asked.size(); i += step) {
      const Wait& wait = trace_.waits[asked[i]];
      const Nanos from = std::max(wait.block, trace_.window.begin);
      out_.all_ns += std::max<Nanos>(0, wait.wake - from);
      look(trace_.sites[wait.site].waker, from, wait.wake, 0);
    }
    const auto most = std::max_element(disks_.begin(), disks_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != disks_.end()) out_.disk = most->first;
    for (const GroupId group : service.answering) out_.busy_ns += busy_ns(groups_.groups[group]);
    return out_;
  }

 private:
  /// ServiceUse::busy_ns of one group.
  Nanos busy_ns(const ThreadGroup& group) const {
    Nanos busy = 0;
    for (const ActorId thread : group.members) {
      const Actor& actor = trace_.actors[thread];
      busy += known_life(actor, trace_.window);
      for (const std::uint32_t id : activity_.waits_of(thread)) {
        const Wait& wait = trace_.waits[id];
        const WaitSite& site = trace_.sites[wait.site];
        const bool is_idle = site.waker == kNoActor || is_for_a_request(site);
        busy -= is_idle ? clipped(std::max(wait.block, actor.seen), wait.wake, trace_.window) : 0;
      }
    }
    return busy;
  }

  /// What the thread did in [from, to).
  void look(ActorId thread, Nanos from, Nanos to, int depth) {
    const Activity::Times times =
        activity_.look(thread, from, to, [&](std::uint32_t id, Nanos begin, Nanos end) {
          look_at_wait(id, trace_.waits[id], begin, end, depth);
        });
    out_.ran_ns += times.ran_ns;
    out_.runnable_ns += times.runnable_ns;
    out_.unknown_ns += times.unknown_ns;
  }

  void look_at_wait(std::uint32_t id, const Wait& wait, Nanos from, Nanos to, int depth) {
    const WaitSite& site = trace_.sites[wait.site];
    const Nanos length = to - from;
    switch (kinds_.of_site[wait.site]) {
      case WaitKind::disk:
        out_.disk_ns += length;
        disks_[site.waker] += length;
        return;
      case WaitKind::below:
      case WaitKind::paused:
        out_.disk_ns += length;
        for (const DiskPart& part : parts_of(kinds_.disk_parts, id)) disks_[part.disk] += part.part_ns;
        return;
      case WaitKind::timer:
      case WaitKind::throttled:
        out_.slept_ns += length;
        return;
      case WaitKind::remote:
        out_.remote_ns += length;
        return;
      case WaitKind::transit:
        (is_for_a_request(site) ? out_.request_ns : out_.others_ns) += length;
        return;
      case WaitKind::looked:
      case WaitKind::stopped:
      case WaitKind::unknown:
        out_.unknown_ns += length;
        return;
      case WaitKind::handover:
      case WaitKind::lock:
        break;
    }
    if (is_for_a_request(site)) {
      out_.request_ns += length;
    } else if (depth < kDeepest && behind_[groups_.group_of[site.waker]]) {
      look(site.waker, from, to, depth + 1);
    } else {
      out_.others_ns += length;
    }
  }

  /// Whether the wait is for a request, from the target or from another client.
  bool is_for_a_request(const WaitSite& site) const {
    if (site.peer != kNoPeer && trace_.peers[site.peer].role == Peer::Role::client) return true;
    const GroupId waker = groups_.group_of[site.waker];
    return waker != kNoGroup && !trace_.actors[site.waker].outside;
  }

  const Trace& trace_;
  const ThreadGroups& groups_;
  const WaitKinds& kinds_;
  Activity activity_;
  std::vector<bool> behind_;  ///< by GroupId
  std::map<ActorId, Nanos> disks_;
  ServiceUse out_;
};

}  // namespace

std::vector<ServiceUse> uses_of_services(const Trace& trace, const ThreadGroups& groups,
                                         const WaitKinds& kinds) {
  const std::vector<Service>& services = kinds.services.all;
  std::vector<ServiceUse> out(services.size());
  if (services.empty()) return out;
  std::vector<std::vector<std::uint32_t>> asked(services.size());
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    const ServiceId service = kinds.services.of_site[wait.site];
    if (service != kNoService && wait.wake < trace.window.end && wait.wake > trace.window.begin &&
        groups.group_of[trace.sites[wait.site].waker] != kNoGroup) {
      asked[service].push_back(id);
    }
  }
  Looking looking(trace, groups, kinds);
  for (ServiceId id = 0; id < services.size(); ++id) {
    if (!services[id].answering.empty()) out[id] = looking.run(services[id], asked[id]);
  }
  return out;
}

}  // namespace offwait
