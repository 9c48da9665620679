// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/verdict.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace offwait {

namespace {

/// A target that is runnable, without a CPU, for this part of the window, all threads together, is not idle.
constexpr double kLacksCpu = 0.2;
/// Waits for requests of this part of the window are the answer even for a target that lacks CPU.
constexpr double kMostlyAsked = 0.5;
/// A target that ran for less than this part of the window is idle.
constexpr double kHardlyRuns = 0.5;

template <class Items, class Belongs>
std::uint32_t count_of(const Items& items, Belongs belongs) {
  return static_cast<std::uint32_t>(std::count_if(items.begin(), items.end(), belongs));
}

/// What the saturated sinks lack, the first of: execution, cpu, capacity.
SinkLimit saturated_by(const std::vector<ReportSink>& sinks) {
  SinkLimit limit = SinkLimit::capacity;
  for (const ReportSink& sink : sinks) {
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
std::optional<ReportVerdict::Remote> remote_limit(const std::vector<ReportSink>& sinks) {
  std::map<Peer, double> services;
  ReportVerdict::Remote out;
  for (const ReportSink& sink : sinks) {
    for (const ReportService& service : sink.services) {
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

ReportVerdict::Rule rule_of(const Report& report, const ReportVerdict& verdict) {
  using Rule = ReportVerdict::Rule;
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
      (!verdict.lacks_cpu || report.edges[*verdict.requests].wait_s >= kMostlyAsked * report.window_s)) {
    return Rule::requests;
  }
  if (!report.knots.empty()) {
    return Rule::background;
  }
  if (report.totals.waits == 0) {
    return Rule::no_waits;
  }
  if (verdict.lacks_cpu) {
    return Rule::lacks_cpu;
  }
  return report.totals.target.running_s < kHardlyRuns * report.window_s ? Rule::idle : Rule::no_limit;
}

}  // namespace

std::optional<ReportEdgeId> waits_for_requests(const WaitGraph& graph, const KnotInput& input,
                                               const std::vector<Knot>& knots) {
  std::vector<PeerSum> sums(graph.vertices.size());
  ReportEdgeId longest = 0;
  Nanos longest_ns = -1;
  for (ReportEdgeId id = 0; id < graph.edges.size(); ++id) {
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

ReportVerdict find_verdict(const Report& report, std::optional<ReportEdgeId> requests) {
  ReportVerdict out;
  out.knots = count_of(report.knots, [](const ReportKnot& knot) { return !knot.background; });
  out.saturated = count_of(report.sinks, [](const ReportSink& sink) { return sink.saturated; });
  out.paced = count_of(report.sinks, [](const ReportSink& sink) {
    return sink.paced && sink.limit != SinkLimit::remote_service;
  });
  out.saturated_by = saturated_by(report.sinks);
  out.remote = remote_limit(report.sinks);
  out.requests = requests;
  const ReportTime& target = report.totals.target;
  out.lacks_cpu = target.runnable_s >= kLacksCpu * report.window_s && target.runnable_s > target.running_s;
  out.machine_full = machine_busy(report).value_or(1) >= kMachineBusy;
  out.rule = rule_of(report, out);
  return out;
}

}  // namespace offwait
