// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit/knot/brute_force.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace offwait::reference {
namespace {

using Vertices = std::set<VertexId>;
using Edges = std::set<std::uint32_t>;
using Reason = KnotStep::Reason;

struct Input {
  const std::vector<KnotVertex>& vertices;
  const std::vector<KnotEdge>& edges;
  const KnotOptions& options;
  Edges heavy = {};  // heavy waits of threads, without edges that are set aside
};

Vertices reachable(const Input& in, const Edges& edges, VertexId from) {
  Vertices seen{from};
  for (bool grew = true; grew;) {
    grew = false;
    for (const std::uint32_t e : edges) {
      if (seen.contains(in.edges[e].from) && seen.insert(in.edges[e].to).second) {
        grew = true;
      }
    }
  }
  return seen;
}

std::set<Vertices> components(const Input& in, const Vertices& vertices, const Edges& edges) {
  std::map<VertexId, Vertices> reach;
  for (const VertexId v : vertices) {
    reach[v] = reachable(in, edges, v);
  }
  std::set<Vertices> result;
  for (const VertexId v : vertices) {
    Vertices mine;
    for (const VertexId w : reach[v]) {
      if (reach[w].contains(v)) {
        mine.insert(w);
      }
    }
    result.insert(mine);
  }
  return result;
}

Edges inside(const Input& in, const Edges& edges, const Vertices& vertices) {
  Edges result;
  for (const std::uint32_t e : edges) {
    if (vertices.contains(in.edges[e].from) && vertices.contains(in.edges[e].to)) {
      result.insert(e);
    }
  }
  return result;
}

Knot make_knot(const Input& in, const Vertices& vertices, const Edges& edges, bool background) {
  Knot knot;
  knot.vertices.assign(vertices.begin(), vertices.end());
  knot.edges.assign(edges.begin(), edges.end());
  std::sort(knot.edges.begin(), knot.edges.end(), [&in](std::uint32_t a, std::uint32_t b) {
    const KnotEdge& x = in.edges[a];
    const KnotEdge& y = in.edges[b];
    return std::make_tuple(-x.weight_ns, x.from, x.to, a) < std::make_tuple(-y.weight_ns, y.from, y.to, b);
  });
  knot.background = background;
  for (const std::uint32_t e : edges) {
    knot.weight_ns += in.edges[e].weight_ns;
  }
  return knot;
}

bool has_answer(const KnotResult& result) {
  return std::any_of(result.knots.begin(), result.knots.end(), [](const Knot& k) { return !k.background; }) ||
         std::any_of(result.sinks.begin(), result.sinks.end(), [](const KnotSink& s) { return s.limits(); });
}

// Whether a vertex outside waits heavily for one of `component`, and a thread that does the work waits
// heavily for that vertex, directly or through others, or is it.
bool followed(const Input& in, const Edges& edges, const Vertices& component) {
  for (const std::uint32_t e : edges) {
    if (!in.heavy.contains(e) || component.contains(in.edges[e].from) ||
        !component.contains(in.edges[e].to)) {
      continue;
    }
    for (VertexId v = 0; v < in.vertices.size(); ++v) {
      if (static_cast<double>(in.vertices[v].active_ns) >=
              in.options.works * static_cast<double>(in.options.window_ns) &&
          reachable(in, in.heavy, v).contains(in.edges[e].from)) {
        return true;
      }
    }
  }
  return false;
}

void append(KnotResult& to, const KnotResult& more) {
  to.knots.insert(to.knots.end(), more.knots.begin(), more.knots.end());
  to.sinks.insert(to.sinks.end(), more.sinks.begin(), more.sinks.end());
  to.steps.insert(to.steps.end(), more.steps.begin(), more.steps.end());
}

KnotResult search(const Input& in, const Vertices& vertices, const Edges& edges, bool whole_graph);

KnotResult refine(const Input& in, const Vertices& vertices, const Edges& arrived) {
  KnotResult result;
  Edges edges = arrived;
  while (vertices.size() > 1 && edges.size() > vertices.size()) {
    const auto key = [&in](std::uint32_t e) {
      const KnotEdge& edge = in.edges[e];
      const bool heavy =
          edge.weight_ns >= in.options.min_weight_ns || edge.gain_ns >= in.options.min_weight_ns;
      return std::make_tuple(heavy, edge.weight_ns, edge.from, edge.to, e);
    };
    const std::uint32_t lightest = *std::min_element(
        edges.begin(), edges.end(), [&key](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    const Nanos weight = in.edges[lightest].weight_ns;
    if (std::get<0>(key(lightest))) {
      break;
    }
    edges.erase(lightest);
    result.steps.push_back({Reason::light, lightest, {}, weight});
    if (components(in, vertices, edges).size() == 1) {
      continue;
    }
    const KnotResult found = search(in, vertices, edges, false);
    if (has_answer(found)) {
      append(result, found);
      return result;
    }
    const std::uint32_t first = *result.steps.front().edge;
    result.steps.insert(result.steps.end(), found.steps.begin(), found.steps.end());
    result.steps.push_back({Reason::kept, first, {}, in.edges[first].weight_ns});
    result.knots.push_back(make_knot(in, vertices, arrived, false));
    return result;
  }
  result.knots.push_back(make_knot(in, vertices, edges, false));
  return result;
}

KnotResult search(const Input& in, const Vertices& vertices, const Edges& edges, bool whole_graph) {
  KnotResult result;
  std::set<Vertices> left = components(in, vertices, edges);
  Vertices gone;
  for (bool progress = true; progress;) {
    progress = false;
    for (const Vertices& component : left) {
      const bool terminal = std::all_of(edges.begin(), edges.end(), [&](std::uint32_t e) {
        return !component.contains(in.edges[e].from) || component.contains(in.edges[e].to) ||
               gone.contains(in.edges[e].to);
      });
      if (!terminal) {
        continue;
      }
      const Edges own = inside(in, edges, component);
      const VertexId first = *component.begin();
      bool background = true;
      if (own.empty()) {
        const KnotVertex& vertex = in.vertices[first];
        const bool alone = whole_graph && std::none_of(edges.begin(), edges.end(), [&](std::uint32_t e) {
                             return in.edges[e].from == first || in.edges[e].to == first;
                           });
        const bool saturated = static_cast<double>(vertex.busy_ns) >=
                               in.options.always_busy * static_cast<double>(in.options.window_ns);
        const bool paced = !saturated &&
                           static_cast<double>(vertex.paced_ns) >=
                               in.options.always_busy * static_cast<double>(in.options.window_ns) &&
                           followed(in, edges, component);
        if (vertex.kind != KnotVertex::Kind::pseudo && (saturated || !alone)) {
          result.sinks.push_back({first, saturated, paced});
          background = !saturated && !paced;
          if (background) {
            result.steps.push_back({Reason::background_sink, {}, first, vertex.busy_ns});
          }
        }
      } else {
        Nanos cpu = 0;
        Nanos active = 0;
        bool device = false;
        for (const VertexId v : component) {
          cpu += in.vertices[v].cpu_ns;
          active += in.vertices[v].active_ns;
          device = device || in.vertices[v].kind == KnotVertex::Kind::device;
        }
        const double needed = in.options.always_busy * static_cast<double>(in.options.window_ns);
        background = !device && static_cast<double>(cpu) < needed &&
                     (static_cast<double>(active) < needed || !followed(in, edges, component));
        if (background) {
          result.knots.push_back(make_knot(in, component, own, true));
          for (const VertexId v : component) {
            result.steps.push_back({Reason::background_knot, {}, v, in.vertices[v].busy_ns});
          }
        } else {
          append(result, refine(in, component, own));
        }
      }
      if (background) {
        gone.insert(component.begin(), component.end());
      }
      left.erase(component);
      progress = true;
      break;
    }
  }
  return result;
}

}  // namespace

KnotResult brute_force_knots(const std::vector<KnotVertex>& vertices, const std::vector<KnotEdge>& edges,
                             const KnotOptions& options) {
  Input in{vertices, edges, options};
  KnotResult result;
  Vertices all;
  for (VertexId v = 0; v < vertices.size(); ++v) {
    all.insert(v);
  }
  Edges live;
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    if (vertices[edges[e].to].kind == KnotVertex::Kind::pseudo) {
      result.steps.push_back({Reason::to_pseudo, e, {}, edges[e].weight_ns});
    } else if (edges[e].weight_ns < options.noise_ns) {
      result.steps.push_back({Reason::noise, e, {}, edges[e].weight_ns});
    } else if (vertices[edges[e].from].always_running) {
      result.steps.push_back({Reason::always_running, e, {}, edges[e].weight_ns});
    } else {
      live.insert(e);
    }
  }
  Edges waits;
  for (const std::uint32_t e : live) {
    if (vertices[edges[e].from].kind == KnotVertex::Kind::thread) {
      waits.insert(e);
    }
  }
  Vertices near;
  for (const VertexId v : all) {
    if (vertices[v].target && vertices[v].kind == KnotVertex::Kind::thread) {
      near.merge(reachable(in, waits, v));
    }
  }
  if (near.empty()) {
    near = all;
  }
  const Edges near_edges = inside(in, live, near);
  for (const std::uint32_t e : live) {
    if (!near_edges.contains(e)) {
      result.steps.push_back({Reason::apart, e, {}, edges[e].weight_ns});
    }
  }
  for (const std::uint32_t e : inside(in, waits, near)) {
    if (std::max(edges[e].weight_ns, edges[e].gain_ns) >= options.min_weight_ns) {
      in.heavy.insert(e);
    }
  }
  append(result, search(in, near, near_edges, true));
  std::sort(result.knots.begin(), result.knots.end(), [](const Knot& a, const Knot& b) {
    return std::make_tuple(a.background, -a.weight_ns, a.vertices) <
           std::make_tuple(b.background, -b.weight_ns, b.vertices);
  });
  std::sort(result.sinks.begin(), result.sinks.end(), [&](const KnotSink& a, const KnotSink& b) {
    return std::make_tuple(!a.saturated, !a.paced, -vertices[a.vertex].busy_ns, a.vertex) <
           std::make_tuple(!b.saturated, !b.paced, -vertices[b.vertex].busy_ns, b.vertex);
  });
  result.only_background = !(result.knots.empty() && result.sinks.empty()) && !has_answer(result);
  return result;
}

}  // namespace offwait::reference
