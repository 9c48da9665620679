// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/held_back.h"

#include <algorithm>
#include <map>

namespace offwait {

namespace {

// TCP_DELACK_MIN and TCP_DELACK_MAX of the kernel.
constexpr Nanos kShortestDelay = 40'000'000;
constexpr Nanos kLongestDelay = 200'000'000;
constexpr double kMuch = 0.1;  // of the lives of those that wait

bool is_loopback(const Peer& peer) { return peer.address.starts_with("127.") || peer.address == "::1"; }

bool may_be_held_back(const Trace& trace, const Wait& wait) {
  const WaitSite& site = trace.sites[wait.site];
  if (site.in_flight || site.waker == kNoActor || site.peer == kNoPeer) return false;
  const Peer& peer = trace.peers[site.peer];
  const Nanos length = wait.wake == kNever ? 0 : wait.wake - wait.block;
  return trace.actors[site.waker].kind == ActorKind::nic && peer.role == Peer::Role::service &&
         is_loopback(peer) && length >= kShortestDelay && length < kLongestDelay;
}

}  // namespace

std::optional<HeldBack> find_held_back(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  std::map<FoundActorId, HeldBack> by_actor;
  for (const Wait& wait : trace.waits) {
    if (!may_be_held_back(trace, wait)) continue;
    const WaitSite& site = trace.sites[wait.site];
    const FoundActorId actor = graph.vertex_of[site.thread];
    HeldBack& sum = by_actor[actor];
    sum.actor = actor;
    sum.service = trace.peers[site.peer];
    ++sum.waits;
    sum.wait_s += to_seconds(clipped(wait.block, wait.wake, trace.window));
  }
  const auto longest = std::max_element(by_actor.begin(), by_actor.end(), [](const auto& a, const auto& b) {
    return a.second.wait_s < b.second.wait_s;
  });
  if (longest == by_actor.end()) return std::nullopt;
  HeldBack out = longest->second;
  out.share = out.wait_s / to_seconds(graph.vertices[out.actor].time.lifetime_ns);
  return out.share < kMuch ? std::nullopt : std::optional(out);
}

}  // namespace offwait
