// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/dot.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/escape.h"
#include "report/names.h"

namespace offwait {

namespace {

constexpr int kMostColumns = 60;  ///< of a name

/// The inside of a quoted string. Graphviz replaces escapes like \N and entities like &amp; in labels.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    if (c == '&') out += "amp;";
  }
  return out;
}

std::string label_of(std::string_view raw) { return cut_to_width(escape(raw), kMostColumns); }

std::string node_line(const Findings& findings, const ActorNames& names, FoundActorId id) {
  const FoundActor& actor = findings.actors[id];
  const bool is_thread = actor.kind == ActorKind::thread || actor.kind == ActorKind::group;
  std::string label = quoted(names.full(findings, id));
  if (is_thread) label += fmt::format("\\nran {:.3f} s", actor.time.running_s);
  const std::string_view style = is_thread ? (actor.outside ? ", style=dashed" : "")
                                           : ", shape=cylinder, style=filled, fillcolor=gray92";
  return fmt::format("n{} [label=\"{}\"{}];\n", id, label, style);
}

std::string_view main_class(const FoundEdge& edge) {
  const auto most = std::max_element(edge.classes.begin(), edge.classes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == edge.classes.end() ? "other" : to_string(most->first);
}

std::string edge_line(const FoundEdge& edge, bool is_in_knot, double window_s) {
  const std::string label =
      edge.idle ? fmt::format("idle {:.3f} s", edge.wait_s)
                : fmt::format("{} {:.3f} s\\nweight {:.3f} s", main_class(edge), edge.wait_s, edge.weight_s);
  const double part = std::clamp(edge.weight_s / window_s, 0.0, 1.0);
  return fmt::format("  n{} -> n{} [label=\"{}\", penwidth={:.1f}{}{}];\n", edge.from, edge.to, label,
                     1 + 4 * part, edge.idle ? ", style=dashed" : "", is_in_knot ? ", color=red3" : "");
}

/// Indices of the edges that are drawn, heaviest first.
std::vector<FoundEdgeId> drawn_edges(const Findings& findings) {
  std::vector<FoundEdgeId> out;
  for (FoundEdgeId id = 0; id < findings.edges.size() && out.size() < kMostDotEdges; ++id) {
    if (findings.edges[id].weight_s >= findings.options.noise_s) out.push_back(id);
  }
  return out;
}

}  // namespace

std::string to_dot(const Findings& findings) {
  const ActorNames names(findings, label_of);
  const std::vector<FoundEdgeId> edges = drawn_edges(findings);
  std::set<FoundActorId> rest;
  for (const FoundEdgeId edge : edges) rest.insert({findings.edges[edge].from, findings.edges[edge].to});
  std::set<FoundEdgeId> knot_edges;
  const std::size_t left_out = findings.edges.size() - edges.size();
  std::string out = fmt::format(
      "digraph offwait {{\n"
      "  graph [label=\"{}: who waits for whom, in {:.3f} s{}\", labelloc=t, rankdir=LR];\n"
      "  node [shape=box];\n",
      quoted(label_of(findings.recording.target)), findings.window_s,
      left_out == 0 ? "" : fmt::format(" ({} lighter edges are left out)", left_out));
  for (std::size_t i = 0; i < findings.knots.size(); ++i) {
    const FoundKnot& knot = findings.knots[i];
    out += fmt::format("  subgraph cluster_{} {{\n    label=\"knot {}{}\"; color={};\n", i, i + 1,
                       knot.background ? ", background" : "", knot.background ? "gray" : "red3");
    for (const FoundActorId actor : knot.actors) {
      if (rest.erase(actor) > 0) out += "    " + node_line(findings, names, actor);
    }
    out += "  }\n";
    if (!knot.background) knot_edges.insert(knot.edges.begin(), knot.edges.end());
  }
  for (const FoundActorId actor : rest) out += "  " + node_line(findings, names, actor);
  for (const FoundEdgeId edge : edges)
    out += edge_line(findings.edges[edge], knot_edges.count(edge) > 0, findings.window_s);
  return out + "}\n";
}

}  // namespace offwait
