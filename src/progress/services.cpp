// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/services.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace offwait {

namespace {

void add_once(std::vector<GroupId>& groups, GroupId group) {
  if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
}

bool is_thread(const Trace& trace, ActorId id) {
  return id != kNoActor && trace.actors[id].kind == ActorKind::thread;
}

/// The wait may have been for data on a socket or in a file.
bool may_be_for_data(const WaitSite& site) {
  return site.wait_class == WaitClass::net || site.wait_class == WaitClass::poll ||
         site.wait_class == WaitClass::other;
}

/// By ActorId: the unix socket on which the thread responded most often; null for none.
std::vector<const Responses*> unix_responses(const Trace& trace) {
  std::vector<const Responses*> out(trace.actors.size());
  for (const Responses& responses : trace.responses) {
    const Responses*& most = out[responses.thread];
    if (responses.port == 0 && (most == nullptr || responses.count > most->count)) most = &responses;
  }
  return out;
}

Peer unix_socket(const std::string& path) {
  const bool is_file = path.front() != '\0';
  return {Peer::Role::service, is_file ? path : "@" + path.substr(1), std::nullopt};
}

/// By PeerId: a thread of the target answers for it.
std::vector<bool> answered_inside(const Trace& trace) {
  std::vector<bool> out(trace.peers.size());
  for (const WaitSite& site : trace.sites) {
    if (site.peer != kNoPeer && is_thread(trace, site.waker) && !trace.actors[site.waker].outside) {
      out[site.peer] = true;
    }
  }
  return out;
}

class Asked {
 public:
  Asked(const Trace& trace, const ThreadGroups& groups)
      : trace_(trace), groups_(groups), unix_(unix_responses(trace)), inside_(answered_inside(trace)) {}

  Services run() {
    out_.of_site.assign(trace_.sites.size(), kNoService);
    out_.is_behind.assign(groups_.groups.size(), false);
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      if (trace_.actors[site.thread].outside || site.waker == kNoActor) continue;
      const ServiceId service = service_of(site);
      out_.of_site[id] = service;
      if (service != kNoService && is_thread(trace_, site.waker)) {
        add_once(out_.all[service].answering, groups_.group_of[site.waker]);
      }
    }
    join_by_groups();
    return std::move(out_);
  }

 private:
  /// Services that a group answers for both become one.
  void join_by_groups() {
    std::vector<Service> joined;
    std::map<GroupId, ServiceId> of_group;
    std::vector<ServiceId> becomes;
    for (const Service& service : out_.all) {
      ServiceId into = static_cast<ServiceId>(joined.size());
      for (const GroupId group : service.answering) {
        if (const auto known = of_group.find(group); known != of_group.end()) into = known->second;
      }
      if (into == joined.size()) joined.emplace_back();
      joined[into].peers.push_back(service.peers.front());
      for (const GroupId group : service.answering) {
        add_once(joined[into].answering, group);
        of_group.try_emplace(group, into);
      }
      becomes.push_back(into);
    }
    out_.all = std::move(joined);
    for (ServiceId& service : out_.of_site) {
      if (service != kNoService) service = becomes[service];
    }
  }

  ServiceId service_of(const WaitSite& site) {
    const Actor& waker = trace_.actors[site.waker];
    const bool by_thread = waker.kind == ActorKind::thread;
    if (by_thread && (!waker.outside || waker.kernel)) return kNoService;
    if (site.peer != kNoPeer) {
      const bool asked = trace_.peers[site.peer].role == Peer::Role::service && !inside_[site.peer];
      return asked && (by_thread || waker.kind == ActorKind::nic) ? at(trace_.peers[site.peer]) : kNoService;
    }
    const bool answers =
        by_thread && may_be_for_data(site) && unix_[site.waker] != nullptr && unix_[site.thread] == nullptr;
    return answers ? at(unix_socket(unix_[site.waker]->path)) : kNoService;
  }

  ServiceId at(const Peer& peer) {
    const auto [found, added] = known_.try_emplace(peer, static_cast<ServiceId>(out_.all.size()));
    if (added) out_.all.push_back({{peer}, {}, {}});
    return found->second;
  }

  const Trace& trace_;
  const ThreadGroups& groups_;
  std::vector<const Responses*> unix_;
  std::vector<bool> inside_;
  std::map<Peer, ServiceId> known_;
  Services out_;
};

/// Whether the thread outside of the target waits for a request.
bool waits_to_be_asked(const Trace& trace, const WaitSite& site,
                       const std::vector<const Responses*>& unix_sockets) {
  return site.peer != kNoPeer ? trace.peers[site.peer].role == Peer::Role::client
                              : unix_sockets[site.thread] != nullptr && may_be_for_data(site);
}

}  // namespace

Services asked_services(const Trace& trace, const ThreadGroups& groups) { return Asked(trace, groups).run(); }

void find_who_is_behind(Services& services, const Trace& trace, const ThreadGroups& groups,
                        const std::vector<bool>& below_devices) {
  if (services.all.empty()) return;
  const std::vector<const Responses*> unix_sockets = unix_responses(trace);
  std::vector<bool> answers(groups.groups.size());
  for (const Service& service : services.all) {
    for (const GroupId group : service.answering) answers[group] = true;
  }
  std::set<std::pair<GroupId, GroupId>> waits_for;  // between groups outside of the target
  for (const WaitSite& site : trace.sites) {
    const GroupId waiter = groups.group_of[site.thread];
    if (!groups.groups[waiter].outside || !is_thread(trace, site.waker) ||
        waits_to_be_asked(trace, site, unix_sockets)) {
      continue;
    }
    const GroupId waker = groups.group_of[site.waker];
    if (waker != waiter && groups.groups[waker].outside && !below_devices[waker] && !answers[waker]) {
      waits_for.emplace(waiter, waker);
    }
  }
  for (Service& service : services.all) {
    std::vector<bool> reached(groups.groups.size());
    const auto reach = [&](GroupId group) {
      if (reached[group]) return;
      reached[group] = true;
      services.is_behind[group] = true;
      service.behind.push_back(group);
    };
    for (const GroupId group : service.answering) reach(group);
    for (std::size_t i = 0; i < service.behind.size(); ++i) {
      const GroupId waiter = service.behind[i];
      for (auto next = waits_for.lower_bound({waiter, 0}); next != waits_for.end() && next->first == waiter;
           ++next) {
        reach(next->second);
      }
    }
  }
}

}  // namespace offwait
