// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/edges.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "analysis/edge_phases.h"
#include "analysis/samples.h"
#include "model/backtrace.h"

namespace offwait {

namespace {

/// Sets the standard errors of the stacks' weights. What is estimated is each one's part of the edge, a
/// ratio: what its own waits add to the variance counts by the other stacks' part, and the other way round
/// (Särndal and others, Model Assisted Survey Sampling, 1992, section 5.6). A stack without another has no
/// error.
void set_errors(const Edge& edge, FoundEdge& out) {
  const auto variance_of_weight = [&edge](std::size_t i) {
    const EdgeStack& stack = edge.stacks[i];
    if (stack.wait_ns <= 0) return 0.0;
    const double rate = static_cast<double>(stack.weight_ns) / static_cast<double>(stack.wait_ns);
    return stack.variance * rate * rate;
  };
  double all = 0;
  for (std::size_t i = 0; i < edge.stacks.size(); ++i) all += variance_of_weight(i);
  if (all <= 0 || edge.weight_ns <= 0) return;
  for (std::size_t i = 0; i < edge.stacks.size(); ++i) {
    const double own = variance_of_weight(i);
    const double part = static_cast<double>(edge.stacks[i].weight_ns) / static_cast<double>(edge.weight_ns);
    const double variance = (1 - part) * (1 - part) * own + part * part * std::max(0.0, all - own);
    out.stacks[i].weight_error_s = std::sqrt(variance) * 1e-9;
  }
}

FoundEdge found_edge(const Trace& trace, const WaitGraph& graph, const Edge& edge) {
  FoundEdge out;
  out.from = edge.from;
  out.to = edge.to;
  out.idle = is_device(graph.kinds[edge.from]);
  out.waits = edge.waits;
  out.wait_s = to_seconds(edge.wait_ns);
  out.weight_s = to_seconds(edge.weight_ns);
  out.each_s = edge.waits > 0 ? to_seconds(edge.plain_ns) / static_cast<double>(edge.waits) : 0;
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    if (edge.class_wait_ns.at(i) > 0) {
      out.classes[static_cast<WaitClass>(i)] = to_seconds(edge.class_wait_ns.at(i));
    }
  }
  out.waker_running_s = to_seconds(edge.waker_running_ns);
  out.waker_runnable_s = to_seconds(edge.waker_runnable_ns);
  out.waker_blocked_s = to_seconds(edge.waker_blocked_ns);
  out.waker_unknown_s = to_seconds(edge.waker_unknown_ns);
  for (const EdgeStack& stack : edge.stacks) {
    out.stacks.push_back({stack.wait_class, to_seconds(stack.weight_ns), to_seconds(stack.wait_ns),
                          stack.waits, backtrace_of(trace, stack.wait_stack),
                          backtrace_of(trace, stack.waker_stack)});
  }
  set_errors(edge, out);
  out.peers_known = edge.peers.size();
  for (std::size_t i = 0; i < std::min(edge.peers.size(), kMostFoundPeers); ++i) {
    const EdgePeer& peer = edge.peers[i];
    out.peers.push_back({trace.peers[peer.peer], peer.waits, to_seconds(peer.wait_ns)});
  }
  return out;
}

}  // namespace

std::vector<FoundEdge> find_edges(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  std::map<FoundEdgeId, FoundPhases> phases = find_phases(prepared, graph);
  std::vector<FoundEdge> out;
  for (FoundEdgeId id = 0; id < graph.edges.size(); ++id) {
    const Edge& edge = graph.edges[id];
    out.push_back(found_edge(trace, graph, edge));
    const auto samples = graph.samples.by_edge.find({edge.from, edge.to});
    if (samples != graph.samples.by_edge.end()) {
      out.back().waker_samples = sum_places(trace, graph.code, samples->second);
    }
    if (const auto found = phases.find(id); found != phases.end()) {
      out.back().phases = std::move(found->second);
    }
  }
  return out;
}

}  // namespace offwait
