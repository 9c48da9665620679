// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/verdict.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/cpu_supply.h"

namespace offwait {

namespace {

/// A target that is runnable, without a CPU, for this part of the window, all threads together, is not idle.
constexpr double kLacksCpu = 0.2;
/// Waits for requests that take this part of the window are the answer even for a target that lacks CPU. A
/// target that waits as long for a service is not idle.
constexpr double kMostlyAsked = 0.5;
/// A target that ran for less than this part of the window is idle.
constexpr double kHardlyRuns = 0.5;

/// A target whose threads are stopped or frozen for more than this part of their time is stopped.
constexpr double kMostlyStopped = 0.5;

template <class Items, class Belongs>
std::uint32_t count_of(const Items& items, Belongs belongs) {
  return static_cast<std::uint32_t>(std::count_if(items.begin(), items.end(), belongs));
}

/// What the saturated sinks lack, the first of: execution, cpu, capacity.
SinkLimit saturated_by(const std::vector<FoundSink>& sinks) {
  SinkLimit limit = SinkLimit::capacity;
  for (const FoundSink& sink : sinks) {
    if (sink.saturated && sink.limit == SinkLimit::execution) {
      return SinkLimit::execution;
    }
    if (sink.saturated && sink.limit == SinkLimit::cpu) {
      limit = SinkLimit::cpu;
    }
  }
  return limit;
}

/// The services of all sinks that answer for some.
std::optional<Verdict::Remote> remote_limit(const std::vector<FoundSink>& sinks) {
  std::map<Peer, double> services;
  Verdict::Remote out;
  for (const FoundSink& sink : sinks) {
    for (const RemoteService& service : sink.services) {
      services[service.peer] += service.wait_s;
    }
    out.wait_s += sink.remote_s;
  }
  if (services.empty()) {
    return std::nullopt;
  }
  out.longest = std::max_element(services.begin(), services.end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->first;
  out.others = services.size() - 1;
  return out;
}

/// As Verdict::asked.
std::optional<Peer> asked_service(const Findings& findings) {
  std::map<FoundActorId, std::map<Peer, double>> waits;
  for (const FoundEdge& edge : findings.edges) {
    if (findings.actors[edge.from].outside) continue;
    for (const FoundPeer& peer : edge.peers) {
      if (peer.peer.role == Peer::Role::service) waits[edge.from][peer.peer] += peer.wait_s;
    }
  }
  std::optional<Peer> out;
  double longest_s = 0;
  for (const auto& [actor, services] : waits) {
    const auto threads = static_cast<double>(findings.actors[actor].members());
    for (const auto& [peer, wait_s] : services) {
      const double each_s = wait_s / threads;
      if (each_s < kMostlyAsked * findings.window_s || each_s <= longest_s) continue;
      longest_s = each_s;
      out = peer;
    }
  }
  return out;
}

Verdict::Rule rule_of(const Findings& findings, const Verdict& verdict) {
  using Rule = Verdict::Rule;
  const Totals& totals = findings.totals;
  if (totals.stopped_s + totals.frozen_s > kMostlyStopped * totals.target.lifetime_s) {
    return Rule::stopped;
  }
  if (verdict.knots > 0) {
    return Rule::knots;
  }
  if (verdict.saturated > 0) {
    return Rule::saturated;
  }
  if (verdict.paced > 0 || verdict.remote) {
    return Rule::paced;
  }
  if (verdict.requests &&
      (!verdict.lacks_cpu || findings.edges[*verdict.requests].wait_s >= kMostlyAsked * findings.window_s)) {
    return Rule::requests;
  }
  if (!findings.knots.empty()) {
    return Rule::background;
  }
  if (findings.totals.waits == 0) {
    return Rule::no_waits;
  }
  if (verdict.lacks_cpu) {
    return Rule::lacks_cpu;
  }
  if (findings.totals.target.running_s >= kHardlyRuns * findings.window_s) return Rule::no_limit;
  return verdict.asked ? Rule::asks : Rule::idle;
}

}  // namespace

std::optional<FoundEdgeId> waits_for_requests(const WaitGraph& graph, const KnotInput& input,
                                              const std::vector<Knot>& knots) {
  std::vector<PeerSum> sums(graph.vertices.size());
  FoundEdgeId longest = 0;
  Nanos longest_ns = -1;
  for (FoundEdgeId id = 0; id < graph.edges.size(); ++id) {
    const PeerSum sum = target_waits(graph, graph.edges[id], PeerKind::request);
    sums[graph.edges[id].from].wait_ns += sum.wait_ns;
    sums[graph.edges[id].from].weight_ns += sum.weight_ns;
    if (sum.wait_ns > longest_ns) {
      longest = id;
      longest_ns = sum.wait_ns;
    }
  }
  PeerSum most;
  for (const PeerSum& sum : sums) {
    most.wait_ns = std::max(most.wait_ns, sum.wait_ns);
    most.weight_ns = std::max(most.weight_ns, sum.weight_ns);
  }
  const bool outweighs = std::all_of(knots.begin(), knots.end(), [&](const Knot& knot) {
    return most.weight_ns > knot.weight_ns && most.wait_ns >= input.options.window_ns / 2;
  });
  const bool enough = most.weight_ns >= std::max<Nanos>(input.options.min_weight_ns, 1);
  return outweighs && enough ? std::optional(longest) : std::nullopt;
}

Verdict find_verdict(const Findings& findings, std::optional<FoundEdgeId> requests) {
  Verdict out;
  out.knots = count_of(findings.knots, [](const FoundKnot& knot) { return !knot.background; });
  out.saturated = count_of(findings.sinks, [](const FoundSink& sink) { return sink.saturated; });
  out.paced = count_of(findings.sinks, [](const FoundSink& sink) {
    return sink.paced && sink.limit != SinkLimit::remote_service;
  });
  out.saturated_by = saturated_by(findings.sinks);
  out.remote = remote_limit(findings.sinks);
  out.asked = asked_service(findings);
  out.requests = requests;
  const StateSeconds& target = findings.totals.target;
  out.lacks_cpu = target.runnable_s >= kLacksCpu * findings.window_s && target.runnable_s > target.running_s;
  out.machine_full = machine_busy(findings).value_or(1) >= kMachineBusy;
  out.rule = rule_of(findings, out);
  return out;
}

}  // namespace offwait
