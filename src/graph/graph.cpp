// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/graph.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace offwait {

namespace {

void sort_edges(std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(b.weight_ns, a.from, a.to) < std::tie(a.weight_ns, b.from, b.to);
  });
}

/// Adds up entries with equal stacks and class; their sites differ in other members.
void join_stacks(std::vector<EdgeStack>& stacks) {
  const auto key = [](const EdgeStack& stack) {
    return std::tie(stack.wait_stack, stack.waker_stack, stack.wait_class);
  };
  std::sort(stacks.begin(), stacks.end(),
            [&key](const EdgeStack& a, const EdgeStack& b) { return key(a) < key(b); });
  std::vector<EdgeStack> joined;
  for (const EdgeStack& stack : stacks) {
    if (joined.empty() || key(joined.back()) != key(stack)) {
      joined.push_back(stack);
      continue;
    }
    joined.back().waits += stack.waits;
    joined.back().wait_ns += stack.wait_ns;
    joined.back().weight_ns += stack.weight_ns;
    joined.back().variance += stack.variance;
  }
  stacks = std::move(joined);
}

/// EdgeStack::variance by site: each drawn wait adds (1 − p) ÷ p² times the square of its length.
std::vector<double> variances(const Trace& trace) {
  std::vector<double> sums(trace.sites.size(), 0);
  for (const Wait& wait : trace.waits) {
    if (wait.stands_for == 1) continue;
    const Nanos begin = std::max(wait.block, trace.window.begin);
    const auto length =
        static_cast<double>(std::max<Nanos>(0, std::min(wait.wake, trace.window.end) - begin));
    const double stands_for = wait.stands_for;
    sums[wait.site] += stands_for * (stands_for - 1) * length * length;
  }
  return sums;
}

void sort_stacks(std::vector<EdgeStack>& stacks) {
  std::sort(stacks.begin(), stacks.end(), [](const EdgeStack& a, const EdgeStack& b) {
    return std::tie(b.weight_ns, a.wait_stack, a.waker_stack, a.wait_class) <
           std::tie(a.weight_ns, b.wait_stack, b.waker_stack, b.wait_class);
  });
}

}  // namespace

void join_peers(std::vector<EdgePeer>& peers) {
  std::sort(peers.begin(), peers.end(), [](const EdgePeer& a, const EdgePeer& b) { return a.peer < b.peer; });
  std::vector<EdgePeer> joined;
  for (const EdgePeer& peer : peers) {
    if (joined.empty() || joined.back().peer != peer.peer) {
      joined.push_back(peer);
      continue;
    }
    joined.back().waits += peer.waits;
    joined.back().wait_ns += peer.wait_ns;
    joined.back().weight_ns += peer.weight_ns;
  }
  std::sort(joined.begin(), joined.end(), [](const EdgePeer& a, const EdgePeer& b) {
    return std::tie(b.wait_ns, a.peer) < std::tie(a.wait_ns, b.peer);
  });
  peers = std::move(joined);
}

Graph build_graph(const Trace& trace, const Sweep& sweep) {
  std::vector<SiteId> sites;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (trace.sites[id].waker != kNoActor && (sweep.sites[id].waits > 0 || sweep.sites[id].wait_ns > 0)) {
      sites.push_back(id);
    }
  }
  const auto ends = [&trace](SiteId id) { return std::pair(trace.sites[id].thread, trace.sites[id].waker); };
  std::sort(sites.begin(), sites.end(),
            [&ends](SiteId a, SiteId b) { return std::pair(ends(a), a) < std::pair(ends(b), b); });

  const std::vector<double> variance = variances(trace);
  Graph graph;
  for (const SiteId id : sites) {
    const WaitSite& site = trace.sites[id];
    const SiteSum& sum = sweep.sites[id];
    if (graph.edges.empty() || std::pair(graph.edges.back().from, graph.edges.back().to) != ends(id)) {
      Edge& added = graph.edges.emplace_back();
      added.from = site.thread;
      added.to = site.waker;
    }
    Edge& edge = graph.edges.back();
    add(edge, sum);
    edge.plain_ns += sum.wait_ns;
    edge.class_wait_ns.at(static_cast<std::size_t>(site.wait_class)) += sum.wait_ns;
    edge.stacks.push_back({site.wait_stack, site.waker_stack, site.wait_class, sum.waits, sum.wait_ns,
                           sum.weight_ns, variance[id]});
    if (site.peer != kNoPeer) {
      edge.peers.push_back({site.peer, sum.waits, sum.wait_ns, sum.weight_ns});
    }
  }
  for (Edge& edge : graph.edges) {
    join_stacks(edge.stacks);
    sort_stacks(edge.stacks);
    join_peers(edge.peers);
  }
  sort_edges(graph.edges);
  return graph;
}

void add_edges(Graph& graph, std::vector<Edge> edges) {
  graph.edges.insert(graph.edges.end(), std::make_move_iterator(edges.begin()),
                     std::make_move_iterator(edges.end()));
  for (Edge& edge : graph.edges) {
    sort_stacks(edge.stacks);
  }
  sort_edges(graph.edges);
}

}  // namespace offwait
