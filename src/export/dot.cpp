// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/dot.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "analysis/drawn_graph.h"
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

std::string node_line(const Findings& findings, const ActorNames& names, const DrawnGraph& graph,
                      std::size_t id) {
  const DrawnBox& box = graph.boxes[id];
  const FoundActor& first = findings.actors[box.actors.front()];
  const bool is_thread = first.kind == ActorKind::thread || first.kind == ActorKind::group;
  std::string label = quoted(box.actors.size() == 1 ? names.full(findings, box.actors.front())
                                                    : names.box(findings, box) + " (outside)");
  double running_s = 0;
  for (const FoundActorId actor : box.actors) running_s += findings.actors[actor].time.running_s;
  if (is_thread) label += fmt::format("\\nran {:.3f} s", running_s);
  const std::string_view style = is_thread ? (first.outside ? ", style=dashed" : "")
                                           : ", shape=cylinder, style=filled, fillcolor=gray92";
  return fmt::format("n{} [label=\"{}\"{}];\n", id, label, style);
}

/// The class that took most of the arrow's time.
std::string_view main_class(const Findings& findings, const DrawnArrow& arrow) {
  const std::map<WaitClass, double> classes = classes_of(findings, arrow);
  const auto most = std::max_element(classes.begin(), classes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == classes.end() ? "other" : to_string(most->first);
}

std::string edge_line(const Findings& findings, const DrawnArrow& arrow) {
  const std::string label = arrow.idle
                                ? fmt::format("idle {:.3f} s", arrow.wait_s)
                                : fmt::format("{} {:.3f} s\\nweight {:.3f} s", main_class(findings, arrow),
                                              arrow.wait_s, arrow.weight_s);
  const double part = std::clamp(arrow.weight_s / findings.window_s, 0.0, 1.0);
  return fmt::format("  n{} -> n{} [label=\"{}\", penwidth={:.1f}{}{}];\n", arrow.from, arrow.to, label,
                     1 + 4 * part, arrow.idle ? ", style=dashed" : "", arrow.in_knot ? ", color=red3" : "");
}

}  // namespace

std::string to_dot(const Findings& findings) {
  const ActorNames names(findings, label_of);
  const DrawnGraph graph = drawn_graph(findings);
  const std::size_t left_out = graph.arrows.size() - graph.first_arrows;
  std::string out = fmt::format(
      "digraph offwait {{\n"
      "  graph [label=\"{}: what waits for what, in {:.3f} s{}\", labelloc=t, rankdir=LR];\n"
      "  node [shape=box];\n",
      quoted(label_of(findings.recording.target)), findings.window_s,
      left_out == 0 ? "" : fmt::format(" ({} arrows that hold up less are left out)", left_out));
  std::map<std::optional<std::size_t>, std::string> nodes;
  for (std::size_t id = 0; id < graph.first_boxes; ++id)
    nodes[graph.boxes[id].knot] += "  " + node_line(findings, names, graph, id);
  for (const auto& [knot, lines] : nodes) {
    out += knot ? fmt::format("  subgraph cluster_{} {{\n    label=\"knot {}\"; color=red3;\n{}  }}\n", *knot,
                              *knot + 1, lines)
                : lines;
  }
  for (std::size_t id = 0; id < graph.first_arrows; ++id) out += edge_line(findings, graph.arrows[id]);
  return out + "}\n";
}

}  // namespace offwait
