// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/occupied.h"

namespace offwait {

namespace {

/// Whether the wait is for a client. Threads of the target are clients of threads outside; threads outside
/// that are behind no service are clients of the target.
bool is_for_a_client(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, SiteId id) {
  const WaitSite& site = trace.sites[id];
  if (site.peer != kNoPeer) return trace.peers[site.peer].role == Peer::Role::client;
  if (kinds.of_site[id] != WaitKind::handover) return false;
  const bool is_outside = trace.actors[site.waker].outside;
  if (trace.actors[site.thread].outside) return !is_outside;
  return is_outside && !kinds.services.is_behind[groups.group_of[site.waker]];
}

bool is_occupied(const WaitKinds& kinds, SiteId id) {
  switch (kinds.of_site[id]) {
    case WaitKind::below:
    case WaitKind::disk:
    case WaitKind::paused:
    case WaitKind::timer:
    case WaitKind::throttled:
    case WaitKind::remote:
      return true;
    case WaitKind::handover:
      return kinds.services.of_site[id] != kNoService;
    case WaitKind::lock:
    case WaitKind::transit:
    case WaitKind::looked:
    case WaitKind::stopped:
    case WaitKind::unknown:
      break;
  }
  return false;
}

}  // namespace

GroupPlace place_of(const ThreadGroups& groups, const WaitSite& site) {
  return {groups.group_of[site.thread], site.wait_stack};
}

Occupied occupied_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                     const Uses& uses) {
  Occupied out;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (is_for_a_client(trace, groups, kinds, id)) {
      out.places_for_clients.insert(place_of(groups, trace.sites[id]));
    }
  }
  for (const GroupUse& use : uses.groups) out.ns.push_back(use.running_ns + use.runnable_ns);
  out.idle_ns.resize(trace.actors.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const GroupPlace place = place_of(groups, trace.sites[id]);
    if (is_occupied(kinds, id) && !out.places_for_clients.contains(place)) {
      out.ns[place.first] += uses.sites[id].wait_ns;
    } else {
      out.idle_ns[trace.sites[id].thread] += uses.sites[id].wait_ns;
    }
  }
  return out;
}

}  // namespace offwait
