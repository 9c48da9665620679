// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/knots.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>

#include "knot/split.h"

namespace offwait {
namespace {

// The sum, clamped: the values may come from hostile input, and overflow is undefined.
Nanos add_clamped(Nanos a, Nanos b) {
  Nanos sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) {
    return sum;
  }
  return b < 0 ? std::numeric_limits<Nanos>::min() : std::numeric_limits<Nanos>::max();
}

class KnotSearch {
 public:
  KnotSearch(const std::vector<KnotVertex>& vertices, const std::vector<KnotEdge>& edges,
             const KnotOptions& options)
      : vertices_(vertices), edges_(edges), options_(options) {}

  KnotResult run() {
    set_aside();
    build_tree();
    find_followers();
    const auto root = static_cast<std::uint32_t>(tree_.nodes.size() - 1);
    look_inside(root);
    while (!pending_.empty()) {
      const std::uint32_t node = pending_.back();
      pending_.pop_back();
      refine(node);
    }
    put_in_order();
    return std::move(result_);
  }

 private:
  // Sums over the vertices of a node of the tree.
  struct Extent {
    std::size_t vertices = 0;
    std::size_t arcs = 0;  // inside it
    Nanos cpu_ns = 0;
    Nanos active_ns = 0;
    bool device = false;
  };

  void set_aside() {
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      const KnotEdge& edge = edges_[i];
      if (vertices_[edge.to].kind == KnotVertex::Kind::pseudo) {
        note_edge(KnotStep::Reason::to_pseudo, i);
      } else if (edge.weight_ns < options_.noise_ns) {
        note_edge(edge.requests_ns >= options_.noise_ns && edge.requests_ns > 0 ? KnotStep::Reason::requests
                                                                                : KnotStep::Reason::noise,
                  i);
      } else if (vertices_[edge.from].always_running) {
        note_edge(KnotStep::Reason::always_running, i);
      } else {
        live_.push_back(i);
      }
    }
    set_apart();
    const auto key = [this](std::uint32_t i) {
      return std::make_tuple(!is_light(i), edges_[i].weight_ns, edges_[i].from, edges_[i].to, i);
    };
    std::sort(live_.begin(), live_.end(),
              [&key](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  }

  void set_apart() {
    near_.assign(vertices_.size(), false);
    std::vector<VertexId> pending;
    for (VertexId vertex = 0; vertex < vertices_.size(); ++vertex) {
      if (vertices_[vertex].target && vertices_[vertex].kind == KnotVertex::Kind::thread) {
        pending.push_back(vertex);
        near_[vertex] = true;
      }
    }
    if (pending.empty()) {
      near_.assign(vertices_.size(), true);
      return;
    }
    std::vector<std::vector<VertexId>> waits_for(vertices_.size());
    for (const std::uint32_t i : live_) {
      if (vertices_[edges_[i].from].kind == KnotVertex::Kind::thread) {
        waits_for[edges_[i].from].push_back(edges_[i].to);
      }
    }
    while (!pending.empty()) {
      const VertexId vertex = pending.back();
      pending.pop_back();
      for (const VertexId other : waits_for[vertex]) {
        if (!near_[other]) {
          near_[other] = true;
          pending.push_back(other);
        }
      }
    }
    const auto apart = std::stable_partition(live_.begin(), live_.end(), [this](std::uint32_t i) {
      return near_[edges_[i].from] && near_[edges_[i].to];
    });
    for (auto i = apart; i != live_.end(); ++i) {
      note_edge(KnotStep::Reason::apart, *i);
    }
    live_.erase(apart, live_.end());
  }

  void build_tree() {
    std::vector<Arc> arcs;
    arcs.reserve(live_.size());
    for (const std::uint32_t i : live_) {
      arcs.push_back({edges_[i].from, edges_[i].to});
    }
    const auto heavy =
        std::partition_point(live_.begin(), live_.end(), [this](std::uint32_t i) { return is_light(i); });
    removals_ = static_cast<std::uint32_t>(heavy - live_.begin());
    tree_ = split_tree(static_cast<std::uint32_t>(vertices_.size()), arcs, removals_);

    extents_.resize(tree_.nodes.size());
    for (std::size_t node = 0; node < tree_.nodes.size(); ++node) {
      Extent& extent = extents_[node];
      extent.arcs = tree_.nodes[node].arcs.size();
      if (node < vertices_.size()) {
        extent.vertices = 1;
        extent.cpu_ns = vertices_[node].cpu_ns;
        extent.active_ns = vertices_[node].active_ns;
        extent.device = vertices_[node].kind == KnotVertex::Kind::device;
      }
      for (const std::uint32_t child : tree_.nodes[node].children) {
        extent.vertices += extents_[child].vertices;
        extent.arcs += extents_[child].arcs;
        extent.cpu_ns = add_clamped(extent.cpu_ns, extents_[child].cpu_ns);
        extent.active_ns = add_clamped(extent.active_ns, extents_[child].active_ns);
        extent.device = extent.device || extents_[child].device;
      }
    }
    child_index_.resize(tree_.nodes.size());
  }

  bool is_light(std::uint32_t edge) const {
    return std::max(edges_[edge].weight_ns, edges_[edge].gain_ns) < options_.min_weight_ns;
  }

  bool heavy_wait(std::uint32_t arc) const {
    return arc >= removals_ && vertices_[edges_[live_[arc]].from].kind == KnotVertex::Kind::thread;
  }

  // Marks the threads that do the work, and all that these wait for heavily, directly or through others.
  // Components are visited in the order of waiting; the first ones are those that no thread waits for.
  void find_followers() {
    std::vector<Arc> arcs;
    for (auto arc = removals_; arc < live_.size(); ++arc) {
      if (heavy_wait(arc)) {
        arcs.push_back(Arc{edges_[live_[arc]].from, edges_[live_[arc]].to});
      }
    }
    const auto count = static_cast<std::uint32_t>(vertices_.size());
    const Components components = strong_components(count, arcs);
    std::vector<bool> works(components.count, false);
    for (VertexId v = 0; v < count; ++v) {
      if (is_part(vertices_[v].active_ns, options_.works)) {
        works[components.of[v]] = true;
      }
    }
    std::sort(arcs.begin(), arcs.end(),
              [&](const Arc& a, const Arc& b) { return components.of[a.from] > components.of[b.from]; });
    for (const Arc& arc : arcs) {
      if (works[components.of[arc.from]]) {
        works[components.of[arc.to]] = true;
      }
    }
    works_.resize(count);
    for (VertexId v = 0; v < count; ++v) {
      works_[v] = works[components.of[v]];
    }
  }

  bool is_part(Nanos ns, double fraction) const {
    return static_cast<double>(ns) >= fraction * static_cast<double>(options_.window_ns);
  }

  // Decides for each terminal child of a node that has split whether it is an answer, background, or to be
  // refined. Returns false if all are background. A knot to be refined counts as found, because its
  // refinement always leaves an answer; so undoing never reaches further than one level.
  bool look_inside(std::uint32_t parent) {
    const SplitTree::Node& node = tree_.nodes[parent];
    const auto count = static_cast<std::uint32_t>(node.children.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      child_index_[node.children[i]] = i;
    }
    std::vector<Arc> between;
    std::vector<std::vector<std::uint32_t>> targets(count);
    std::vector<bool> has_edge(count, false);
    std::vector<bool> followed(count, false);
    for (const std::uint32_t arc : node.arcs) {
      if (arc < node.split) {
        continue;
      }
      const Arc ends{child_index_[tree_.ends[arc].from], child_index_[tree_.ends[arc].to]};
      between.push_back(ends);
      targets[ends.from].push_back(ends.to);
      has_edge[ends.from] = has_edge[ends.to] = true;
      if (heavy_wait(arc) && works_[edges_[live_[arc]].from]) {
        followed[ends.to] = true;
      }
    }
    // Each child is a component already; the search serves to put them in reverse topological order.
    const Components components = strong_components(count, between);
    std::vector<std::uint32_t> order(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      order[components.of[i]] = i;
    }

    bool found = false;
    std::vector<bool> removed(count, false);
    for (const std::uint32_t i : order) {
      if (!std::all_of(targets[i].begin(), targets[i].end(), [&](std::uint32_t t) { return removed[t]; })) {
        continue;
      }
      const std::uint32_t child = node.children[i];
      // Only the whole graph can have a vertex without any edge: a knot splits by the removal of one edge,
      // and each of its vertices has another.
      const bool answer = extents_[child].arcs == 0 ? look_at_sink(child, has_edge[i], followed[i])
                                                    : look_at_knot(child, followed[i]);
      removed[i] = !answer;
      found = found || answer;
    }
    return found;
  }

  bool look_at_sink(VertexId vertex, bool report_background, bool followed) {
    if (vertices_[vertex].kind == KnotVertex::Kind::pseudo || !near_[vertex]) {
      return false;
    }
    KnotSink sink{vertex, is_part(vertices_[vertex].busy_ns, options_.always_busy), false};
    sink.paced = !sink.saturated && followed && is_part(vertices_[vertex].paced_ns, options_.always_busy);
    if (sink.limits() || report_background) {
      result_.sinks.push_back(sink);
    }
    if (!sink.limits() && report_background) {
      note_vertex(KnotStep::Reason::background_sink, vertex);
    }
    return sink.limits();
  }

  bool look_at_knot(std::uint32_t node, bool followed) {
    const Extent& extent = extents_[node];
    if (extent.device || is_part(extent.cpu_ns, options_.always_busy) ||
        (followed && is_part(extent.active_ns, options_.always_busy))) {
      pending_.push_back(node);
      return true;
    }
    report_knot(node, 0, true);
    for (const VertexId vertex : result_.knots.back().vertices) {
      note_vertex(KnotStep::Reason::background_knot, vertex);
    }
    return false;
  }

  void refine(std::uint32_t knot) {
    const SplitTree::Node& node = tree_.nodes[knot];
    const Extent& extent = extents_[knot];
    const auto light = static_cast<std::size_t>(
        std::lower_bound(node.arcs.begin(), node.arcs.end(), std::min(node.split, removals_)) -
        node.arcs.begin());
    // A strongly connected knot has at least one edge for each vertex. With exactly one it is a simple cycle,
    // and no more edge is dropped.
    const std::size_t surplus = extent.vertices == 1 ? 0 : extent.arcs - extent.vertices;
    if (node.split == SplitTree::kLasts || surplus < light) {
      const std::size_t dropped = std::min(light, surplus);
      note_light(node, dropped);
      report_knot(knot, dropped, false);
      return;
    }
    note_light(node, light);
    const std::size_t knots_before = result_.knots.size();
    const std::size_t sinks_before = result_.sinks.size();
    if (look_inside(knot)) {
      return;
    }
    result_.knots.resize(knots_before);
    result_.sinks.resize(sinks_before);
    note_edge(KnotStep::Reason::kept, live_[node.arcs.front()]);
    report_knot(knot, 0, false);
  }

  void report_knot(std::uint32_t knot, std::size_t dropped, bool background) {
    Knot report;
    report.background = background;
    std::vector<std::uint32_t> arcs;
    std::vector<std::uint32_t> inside{knot};
    while (!inside.empty()) {
      const std::uint32_t i = inside.back();
      inside.pop_back();
      const SplitTree::Node& node = tree_.nodes[i];
      if (i < vertices_.size()) {
        report.vertices.push_back(i);
      }
      const auto skipped = static_cast<std::ptrdiff_t>(i == knot ? dropped : 0);
      arcs.insert(arcs.end(), node.arcs.begin() + skipped, node.arcs.end());
      inside.insert(inside.end(), node.children.begin(), node.children.end());
    }
    std::sort(report.vertices.begin(), report.vertices.end());
    for (const std::uint32_t arc : arcs) {
      report.edges.push_back(live_[arc]);
    }
    std::sort(report.edges.begin(), report.edges.end(), [this](std::uint32_t a, std::uint32_t b) {
      const auto key = [this](std::uint32_t i) { return std::make_tuple(edges_[i].from, edges_[i].to, i); };
      if (edges_[a].weight_ns != edges_[b].weight_ns) {
        return edges_[a].weight_ns > edges_[b].weight_ns;
      }
      return key(a) < key(b);
    });
    for (const std::uint32_t edge : report.edges) {
      report.weight_ns = add_clamped(report.weight_ns, edges_[edge].weight_ns);
    }
    result_.knots.push_back(std::move(report));
  }

  void put_in_order() {
    std::sort(result_.knots.begin(), result_.knots.end(), [](const Knot& a, const Knot& b) {
      if (a.background != b.background) {
        return b.background;
      }
      if (a.weight_ns != b.weight_ns) {
        return a.weight_ns > b.weight_ns;
      }
      return a.vertices < b.vertices;
    });
    std::sort(result_.sinks.begin(), result_.sinks.end(), [this](const KnotSink& a, const KnotSink& b) {
      if (a.saturated != b.saturated) {
        return a.saturated;
      }
      if (a.paced != b.paced) {
        return a.paced;
      }
      const Nanos busy_a = vertices_[a.vertex].busy_ns;
      const Nanos busy_b = vertices_[b.vertex].busy_ns;
      return busy_a != busy_b ? busy_a > busy_b : a.vertex < b.vertex;
    });
    // Answers come first.
    const bool knot_answer = !result_.knots.empty() && !result_.knots.front().background;
    const bool sink_answer = !result_.sinks.empty() && result_.sinks.front().limits();
    const bool nothing = result_.knots.empty() && result_.sinks.empty();
    result_.only_background = !nothing && !knot_answer && !sink_answer;
  }

  void note_edge(KnotStep::Reason reason, std::uint32_t edge) {
    result_.steps.push_back(
        {reason, edge, std::nullopt, add_clamped(edges_[edge].weight_ns, edges_[edge].requests_ns)});
  }
  void note_vertex(KnotStep::Reason reason, VertexId vertex) {
    result_.steps.push_back({reason, std::nullopt, vertex, vertices_[vertex].busy_ns});
  }
  void note_light(const SplitTree::Node& node, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      note_edge(KnotStep::Reason::light, live_[node.arcs[i]]);
    }
  }

  const std::vector<KnotVertex>& vertices_;
  const std::vector<KnotEdge>& edges_;
  const KnotOptions& options_;

  std::vector<bool> near_;           // by vertex: the target waits for it, or it is the target
  std::vector<std::uint32_t> live_;  // edges not set aside, light ones first, lightest first: the tree's arcs
  std::uint32_t removals_ = 0;       // how many of them are under min_weight
  SplitTree tree_;
  std::vector<Extent> extents_;             // by node of the tree
  std::vector<bool> works_;                 // by vertex: it does the work, or one that does waits for it
  std::vector<std::uint32_t> child_index_;  // by node of the tree; scratch
  std::vector<std::uint32_t> pending_;      // knots to be refined
  KnotResult result_;
};

}  // namespace

std::string_view to_string(KnotStep::Reason reason) {
  switch (reason) {
    case KnotStep::Reason::noise:
      return "noise";
    case KnotStep::Reason::to_pseudo:
      return "to-pseudo";
    case KnotStep::Reason::requests:
      return "requests";
    case KnotStep::Reason::always_running:
      return "saturated";
    case KnotStep::Reason::apart:
      return "apart";
    case KnotStep::Reason::light:
      return "light";
    case KnotStep::Reason::background_sink:
      return "background-sink";
    case KnotStep::Reason::background_knot:
      return "background-knot";
    case KnotStep::Reason::kept:
      return "kept";
  }
  return "";
}

KnotResult find_knots(const std::vector<KnotVertex>& vertices, const std::vector<KnotEdge>& edges,
                      const KnotOptions& options) {
  if (options.window_ns <= 0) {
    return {};
  }
  return KnotSearch(vertices, edges, options).run();
}

}  // namespace offwait
