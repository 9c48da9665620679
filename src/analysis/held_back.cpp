// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/held_back.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/by_thread.h"

namespace offwait {

namespace {

// TCP_DELACK_MIN and TCP_DELACK_MAX of the kernel.
constexpr Nanos kShortestDelay = 40'000'000;
constexpr Nanos kLongestDelay = 200'000'000;
constexpr double kMuch = 0.1;  // of the lives of those that wait

bool is_loopback(const Peer& peer) { return peer.address.starts_with("127.") || peer.address == "::1"; }

bool is_a_delay(Nanos length) { return length >= kShortestDelay && length < kLongestDelay; }

/// A packet over loopback that no thread sent ends the site's waits for a peer of this role.
bool ends_by_itself(const Trace& trace, const WaitSite& site, Peer::Role role) {
  if (site.in_flight || site.waker == kNoActor || site.peer == kNoPeer) return false;
  const Peer& peer = trace.peers[site.peer];
  return trace.actors[site.waker].kind == ActorKind::nic && peer.role == role && is_loopback(peer);
}

class HeldBackWaits {
 public:
  HeldBackWaits(const Trace& trace, const WaitGraph& graph) : trace_(trace), graph_(graph) {}

  std::map<std::pair<FoundActorId, bool>, HeldBack> run() {
    std::vector<bool> for_answers;   // by SiteId
    std::vector<bool> for_requests;  // by SiteId, of threads outside of the target, as a service
    for (const WaitSite& site : trace_.sites) {
      for_answers.push_back(ends_by_itself(trace_, site, Peer::Role::service));
      for_requests.push_back(trace_.actors[site.thread].outside &&
                             ends_by_itself(trace_, site, Peer::Role::client));
    }
    for (const Wait& wait : trace_.waits) {
      if (wait.wake == kNever || !for_answers[wait.site]) continue;
      if (is_a_delay(wait.wake - wait.block)) add(wait, wait.block, wait.wake, false);
    }
    if (std::find(for_requests.begin(), for_requests.end(), true) != for_requests.end()) {
      find_requests(for_requests);
    }
    return std::move(by_actor_);
  }

 private:
  void add(const Wait& wait, Nanos from, Nanos to, bool asked) {
    const WaitSite& site = trace_.sites[wait.site];
    const FoundActorId actor = graph_.vertex_of[site.thread];
    HeldBack& sum = by_actor_[{actor, asked}];
    sum.actor = actor;
    sum.asked = asked;
    sum.service = trace_.peers[site.peer];
    ++sum.waits;
    sum.wait_s += to_seconds(clipped(from, to, trace_.window));
  }

  /// A thread of the target waits for an answer. The last wait of the answering thread in that time was for
  /// the rest of the request.
  void find_requests(const std::vector<bool>& for_requests) {
    const ByThread waits(trace_.actors.size(), trace_.waits,
                         [this](const Wait& wait) { return trace_.sites[wait.site].thread; });
    for (const Wait& wait : trace_.waits) {
      const WaitSite& site = trace_.sites[wait.site];
      const bool is_answered = wait.wake != kNever && !trace_.actors[site.thread].outside &&
                               site.peer != kNoPeer && trace_.peers[site.peer].role == Peer::Role::service &&
                               site.waker != kNoActor && trace_.actors[site.waker].kind == ActorKind::thread;
      if (!is_answered) continue;
      const auto of_waker = waits.of(site.waker);
      const auto after = std::partition_point(of_waker.begin(), of_waker.end(), [&](std::uint32_t id) {
        return trace_.waits[id].block < wait.wake;
      });
      if (after == of_waker.begin()) continue;
      const Wait& last = trace_.waits[*(after - 1)];
      if (!for_requests[last.site] || last.wake > wait.wake) continue;
      const Nanos from = std::max(wait.block, last.block);
      if (is_a_delay(last.wake - from)) add(wait, from, last.wake, true);
    }
  }

  const Trace& trace_;
  const WaitGraph& graph_;
  std::map<std::pair<FoundActorId, bool>, HeldBack> by_actor_;
};

}  // namespace

std::optional<HeldBack> find_held_back(const Prepared& prepared, const WaitGraph& graph) {
  const auto by_actor = HeldBackWaits(prepared.trace.all(), graph).run();
  const auto longest = std::max_element(by_actor.begin(), by_actor.end(), [](const auto& a, const auto& b) {
    return a.second.wait_s < b.second.wait_s;
  });
  if (longest == by_actor.end()) return std::nullopt;
  HeldBack out = longest->second;
  out.share = out.wait_s / to_seconds(graph.vertices[out.actor].time.lifetime_ns);
  return out.share < kMuch ? std::nullopt : std::optional(out);
}

}  // namespace offwait
