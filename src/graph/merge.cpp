// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/thresholds.h"
#include "graph/thread_kinds.h"

namespace offwait {

namespace {

constexpr double kSimilar = 0.9;
constexpr double kAsBusy = 0.3;

/// Wait time by wait stack and class.
using WaitKind = std::pair<StackId, WaitClass>;
using Distribution = std::map<WaitKind, double>;

std::vector<Distribution> distributions(const Trace& trace, const Sweep& sweep) {
  std::vector<Distribution> result(trace.actors.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const Nanos wait_ns = sweep.sites[id].wait_ns;
    if (wait_ns > 0) {
      result[site.thread][{site.wait_stack, site.wait_class}] += static_cast<double>(wait_ns);
    }
  }
  return result;
}

double square(const Distribution& distribution) {
  return std::accumulate(distribution.begin(), distribution.end(), 0.0,
                         [](double sum, const auto& part) { return sum + part.second * part.second; });
}

/// The share of its lifetime in which a thread was running or runnable.
double busy_share(const ActorTime& time) {
  return static_cast<double>(time.running_ns + time.runnable_ns) /
         static_cast<double>(std::max<Nanos>(time.lifetime_ns, 1));
}

/// The groups of similar threads among those of one kind.
class SimilarityGroups {
 public:
  /// Adds a thread and returns its vertex: that of the most similar group, or `fresh` for a new group.
  std::uint32_t join(const Distribution& waits, double busy, std::uint32_t fresh) {
    const std::size_t group = waits.empty() ? idle_group() : most_similar(waits, busy);
    if (group == groups_.size()) {
      groups_.push_back({fresh, waits.empty(), 0, 0, 0});
    }
    groups_[group].busy += busy;
    groups_[group].members += 1;
    // The length of the group's sum changes as |g + w|² = |g|² + 2 g·w + |w|².
    double product = 0;
    for (const auto& [kind, ns] : waits) {
      double& sum = sum_of(kind, group);
      product += sum * ns;
      sum += ns;
    }
    groups_[group].square += 2 * product + square(waits);
    return groups_[group].vertex;
  }

 private:
  struct Group {
    std::uint32_t vertex;
    bool idle;  ///< never waited
    double square;
    double busy;  ///< sum over the members
    double members;
  };

  std::size_t idle_group() const {
    const auto found =
        std::find_if(groups_.begin(), groups_.end(), [](const Group& group) { return group.idle; });
    return static_cast<std::size_t>(found - groups_.begin());
  }

  std::size_t most_similar(const Distribution& waits, double busy) const {
    std::vector<double> products(groups_.size());
    for (const auto& [kind, ns] : waits) {
      const auto sums = sums_.find(kind);
      if (sums == sums_.end()) continue;
      for (const auto& [group, sum] : sums->second) {
        products[group] += sum * ns;
      }
    }
    const double own_square = square(waits);
    std::size_t best = groups_.size();
    double best_cosine = kSimilar;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      if (products[i] == 0 || std::abs(busy - group.busy / group.members) > kAsBusy) continue;
      const double cosine = products[i] / std::sqrt(own_square * group.square);
      if (cosine > best_cosine || (best == groups_.size() && cosine == best_cosine)) {
        best = i;
        best_cosine = cosine;
      }
    }
    return best;
  }

  double& sum_of(const WaitKind& kind, std::size_t group) {
    GroupSums& sums = sums_[kind];
    const auto at = std::lower_bound(sums.begin(), sums.end(), group,
                                     [](const auto& sum, std::size_t id) { return sum.first < id; });
    return (at != sums.end() && at->first == group ? at : sums.insert(at, {group, 0.0}))->second;
  }

  /// A group's wait time, in order of group.
  using GroupSums = std::vector<std::pair<std::size_t, double>>;

  std::vector<Group> groups_;
  std::map<WaitKind, GroupSums> sums_;
};

/// Adds `edge` to `sum` and appends its stacks; equal ones are not yet added up.
void add(Edge& sum, const Edge& edge) {
  add(static_cast<SiteSum&>(sum), edge);
  sum.plain_ns += edge.plain_ns;
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    sum.class_wait_ns.at(i) += edge.class_wait_ns.at(i);
  }
  sum.stacks.insert(sum.stacks.end(), edge.stacks.begin(), edge.stacks.end());
  sum.peers.insert(sum.peers.end(), edge.peers.begin(), edge.peers.end());
}

/// How many threads of a vertex wait at a time.
struct Share {
  Nanos part = 1;
  Nanos whole = 1;
  Nanos of(Nanos ns) const {
    __extension__ using Wide = __int128;
    return static_cast<Nanos>(Wide{ns} * part / whole);
  }
  double ratio() const { return static_cast<double>(part) / static_cast<double>(whole); }
};

Share share_of(const Vertex& vertex) {
  if (vertex.short_lived) {
    return {vertex.alive_ns, std::max<Nanos>(vertex.time.lifetime_ns, 1)};
  }
  return {1, static_cast<Nanos>(vertex.members.size())};
}

void scale(Edge& edge, const Share& share) {
  for (Nanos* const ns : {&edge.wait_ns, &edge.weight_ns, &edge.waker_running_ns, &edge.waker_runnable_ns,
                          &edge.waker_blocked_ns, &edge.waker_unknown_ns, &edge.waker_disk_ns,
                          &edge.waker_asleep_ns, &edge.resume_ns, &edge.together_ns, &edge.together_disk_ns,
                          &edge.kept_ns, &edge.kept_disk_ns, &edge.behind_disk_ns, &edge.then_disk_ns}) {
    *ns = share.of(*ns);
  }
  for (Nanos& ns : edge.class_wait_ns) {
    ns = share.of(ns);
  }
  for (EdgeStack& stack : edge.stacks) {
    stack.wait_ns = share.of(stack.wait_ns);
    stack.weight_ns = share.of(stack.weight_ns);
    stack.variance *= share.ratio() * share.ratio();
  }
  for (EdgePeer& peer : edge.peers) {
    peer.wait_ns = share.of(peer.wait_ns);
    peer.weight_ns = share.of(peer.weight_ns);
  }
}

/// Adds up entries with equal stacks.
std::vector<EdgeStack> sum_stacks(std::vector<EdgeStack> stacks) {
  const auto key = [](const EdgeStack& stack) {
    return std::tuple(stack.wait_stack, stack.waker_stack, stack.wait_class);
  };
  std::sort(stacks.begin(), stacks.end(),
            [&key](const EdgeStack& a, const EdgeStack& b) { return key(a) < key(b); });
  std::vector<EdgeStack> sums;
  for (const EdgeStack& stack : stacks) {
    if (sums.empty() || key(sums.back()) != key(stack)) {
      sums.push_back(stack);
      continue;
    }
    sums.back().waits += stack.waits;
    sums.back().wait_ns += stack.wait_ns;
    sums.back().weight_ns += stack.weight_ns;
    sums.back().variance += stack.variance;
  }
  return sums;
}

/// Fills in everything but vertex_of, which `merged` has already.
void merge_along(Merged& merged, const TraceWithStandIns& with, const Sweep& sweep, const Graph& graph) {
  for (ActorId id = 0; id < with.actors().size(); ++id) {
    const std::uint32_t index = merged.vertex_of[id];
    if (index == merged.vertices.size()) {
      merged.vertices.emplace_back().representative = id;
    }
    Vertex& vertex = merged.vertices[index];
    vertex.members.push_back(id);
    add(vertex.time, sweep.actors[id]);
  }
  for (const ShortLived& group : with.groups()) {
    Vertex& vertex = merged.vertices[merged.vertex_of[group.stand_in]];
    vertex.short_lived = true;
    vertex.alive_ns = group.alive_ns;
    vertex.busy_ns = group.busy_ns;
  }
  // The second edge of each pair is the sum over the edges of stand-ins. These are not divided.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<Edge, 2>> edges;
  for (const Edge& edge : graph.edges) {
    const std::uint32_t from = merged.vertex_of[edge.from];
    const std::uint32_t to = merged.vertex_of[edge.to];
    Edge& sum = edges[{from, to}].at(with.is_stand_in(edge.from) ? 1 : 0);
    add(sum, edge);
  }
  std::vector<Edge> sums;
  sums.reserve(edges.size());
  for (auto& [ends, both] : edges) {
    Edge& edge = both[0];
    edge.from = ends.first;
    edge.to = ends.second;
    edge.stacks = sum_stacks(std::move(edge.stacks));
    join_peers(edge.peers);
    scale(edge, share_of(merged.vertices[edge.from]));
    add(edge, both[1]);
    sums.push_back(std::move(edge));
  }
  add_edges(merged.graph, std::move(sums));
}

}  // namespace

Merged without_merging(const TraceWithStandIns& with, const Sweep& sweep, const Graph& graph) {
  Merged merged;
  merged.vertex_of.resize(with.actors().size());
  std::iota(merged.vertex_of.begin(), merged.vertex_of.end(), 0U);
  merge_along(merged, with, sweep, graph);
  return merged;
}

Merged merge_similar(const TraceWithStandIns& with, const Sweep& sweep, const Graph& graph) {
  const Trace& trace = with.all();
  const std::vector<Distribution> waits = distributions(trace, sweep);
  const auto always_ready = [&](ActorId id) {
    const ActorTime& time = sweep.actors[id];
    return static_cast<double>(time.running_ns + time.runnable_ns) >=
           kAlwaysReady * static_cast<double>(trace.window.length());
  };
  std::vector<ActorId> stand_in_of(trace.actors.size(), kNoActor);
  for (const ShortLived& group : with.groups()) {
    for (const ActorId member : group.members) {
      stand_in_of[member] = group.stand_in;
    }
  }
  const std::vector<ThreadKind> kinds = thread_kinds(trace);
  // By kind, process (where processes do not merge), and whether they are always ready.
  std::map<std::tuple<ThreadKind, std::int32_t, bool>, SimilarityGroups> groups;
  std::map<ActorId, std::uint32_t> virtual_threads;  // by stand-in
  Merged merged;
  std::uint32_t vertices = 0;
  for (ActorId id = 0; id < with.actors().size(); ++id) {
    const Actor& actor = trace.actors[id];
    std::uint32_t vertex = vertices;
    if (stand_in_of[id] != kNoActor) {
      vertex = virtual_threads.try_emplace(stand_in_of[id], vertices).first->second;
    } else if (actor.kind == ActorKind::thread && !actor.name.empty() && actor.tgid != 0) {
      vertex = groups[{kinds[id], actor.program.empty() ? actor.tgid : 0, always_ready(id)}].join(
          waits[id], busy_share(sweep.actors[id]), vertices);
    }
    if (vertex == vertices) {
      ++vertices;
    }
    merged.vertex_of.push_back(vertex);
  }
  for (const ShortLived& group : with.groups()) {
    merged.vertex_of.push_back(virtual_threads.at(group.stand_in));
  }
  merge_along(merged, with, sweep, graph);
  return merged;
}

}  // namespace offwait
