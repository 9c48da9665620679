// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/code_uses.h"

#include <map>
#include <utility>

#include "graph/peer_kinds.h"

namespace offwait {

namespace {

/// A group does not count if others waited for it for a smaller part of the window than this.
constexpr double kMuchWaited = 0.01;

bool may_be_for_requests(WaitClass wait_class) {
  return wait_class == WaitClass::net || wait_class == WaitClass::poll || wait_class == WaitClass::pipe ||
         wait_class == WaitClass::other;
}

/// How long groups waited for groups.
using Pairs = std::map<std::pair<GroupId, GroupId>, Nanos>;

Pairs waits_between(const Trace& trace, const ThreadGroups& groups, const std::vector<WaitSum>& waits,
                    const std::vector<bool>& requests) {
  Pairs out;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.waker == kNoActor || requests[id]) continue;
    const GroupId waiter = groups.group_of[site.thread];
    const GroupId waker = groups.group_of[site.waker];
    if (waker != kNoGroup && waker != waiter) out[{waiter, waker}] += waits[id].wait_ns;
  }
  return out;
}

std::vector<WaitSum> sum_by_site(const Trace& trace) {
  std::vector<WaitSum> out(trace.sites.size());
  for (const Wait& wait : trace.waits) {
    WaitSum& sum = out[wait.site];
    sum.wait_ns += clipped(wait.block, wait.wake, trace.window);
    sum.runnable_ns += clipped(wait.wake, wait.run, trace.window);
    const bool ended = wait.wake >= trace.window.begin && wait.wake < trace.window.end;
    sum.ended += ended && !trace.sites[wait.site].in_flight ? 1U : 0U;
  }
  return out;
}

std::vector<bool> waits_for_requests_at(const Trace& trace, const WaitKinds& kinds) {
  const std::vector<PeerKind> peers = kinds_of_peers(trace);
  std::vector<bool> out;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const bool by_client = site.peer != kNoPeer && peers[site.peer] == PeerKind::request;
    // Clients on unix sockets are no peers.
    const bool by_outsider = site.peer == kNoPeer && site.waker != kNoActor &&
                             trace.actors[site.waker].kind == ActorKind::thread &&
                             trace.actors[site.waker].outside && !trace.actors[site.waker].kernel &&
                             may_be_for_requests(site.wait_class) && kinds.services.of_site[id] == kNoService;
    out.push_back(!trace.actors[site.thread].outside && (by_client || by_outsider));
  }
  return out;
}

std::vector<bool> groups_that_count(const Trace& trace, const ThreadGroups& groups,
                                    const std::vector<Progress>& progress, const std::vector<WaitSum>& waits,
                                    const std::vector<bool>& requests) {
  std::vector<bool> reached(groups.groups.size());
  std::vector<GroupId> open;
  const auto add_group = [&](GroupId group) {
    if (!reached[group]) open.push_back(group);
    reached[group] = true;
  };
  const auto of_target = [&] {
    for (GroupId group = 0; group < reached.size(); ++group) {
      reached[group] = reached[group] && !groups.groups[group].outside;
    }
    return reached;
  };
  if (!progress.empty()) {
    for (const ProgressPart& part : progress.front().parts) {
      for (const GroupId group : part.groups) add_group(group);
    }
  }
  if (open.empty()) {
    for (GroupId group = 0; group < reached.size(); ++group) add_group(group);
    return of_target();
  }
  const Pairs pairs = waits_between(trace, groups, waits, requests);
  const double much = kMuchWaited * static_cast<double>(trace.window.length());
  while (!open.empty()) {
    const GroupId waiter = open.back();
    open.pop_back();
    for (auto pair = pairs.lower_bound({waiter, 0}); pair != pairs.end() && pair->first.first == waiter;
         ++pair) {
      if (static_cast<double>(pair->second) >= much) add_group(pair->first.second);
    }
  }
  return of_target();
}

}  // namespace

CodeUses code_uses_of(const Trace& trace, const Facts& facts) {
  CodeUses out;
  out.waits = sum_by_site(trace);
  out.requests = waits_for_requests_at(trace, facts.kinds);
  out.counts = groups_that_count(trace, facts.groups, facts.progress, out.waits, out.requests);
  return out;
}

void add_wait(CodeTime& time, WaitClass wait_class, const WaitSum& sum) {
  const double wait_s = to_seconds(sum.wait_ns);
  switch (wait_class) {
    case WaitClass::disk:
      time.io_s += wait_s;
      break;
    case WaitClass::futex:
    case WaitClass::lock:
    case WaitClass::spin:
      time.lock_s += wait_s;
      break;
    default:
      time.other_s += wait_s;
      break;
  }
  time.runnable_s += to_seconds(sum.runnable_ns);
}

void add(CodeTime& sum, const CodeTime& more, double factor) {
  sum.cpu_s += factor * more.cpu_s;
  sum.io_s += factor * more.io_s;
  sum.lock_s += factor * more.lock_s;
  sum.runnable_s += factor * more.runnable_s;
  sum.other_s += factor * more.other_s;
}

}  // namespace offwait
