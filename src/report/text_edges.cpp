// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_edges.h"

#include <algorithm>

#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/wording_edges.h"

namespace offwait {

namespace {

constexpr std::size_t kPeers = 3;

/// Narrow terminals go without the columns that follow from others.
struct Columns {
  int edge = 0;  ///< width
  bool waited = true;
  int waits = 10;  ///< width; 0: none
  bool each = true;
};

Columns columns_of(const TextPage& page, const std::vector<FoundEdgeId>& edges, std::size_t shown) {
  int edge = 4;
  int waits = Columns().waits;
  for (std::size_t i = 0; i < shown; ++i) {
    const FoundEdge& here = page.findings.edges[edges[i]];
    edge = std::max(edge, page.canvas.columns(edge_text(here, page.names)));
    if (!here.idle) waits = std::max(waits, page.canvas.columns(format_count(here.waits)) + 2);
  }
  const int width = page.canvas.width();
  edge = std::min(edge, std::max(width * 2 / 5, 16));
  const int left = width - edge - waits;
  return {edge, width - edge >= 36, left >= 36 ? waits : 0, left >= 46};
}

void put_head(Canvas& canvas, const Columns& columns) {
  canvas.to(2).put("edge", Ink::dim).to(2 + columns.edge);
  canvas.put_right("weight", 9, Ink::dim).put_right("window", 8, Ink::dim);
  if (columns.waited) canvas.put_right("waited", 9, Ink::dim);
  if (columns.waits != 0) canvas.put_right("waits", columns.waits, Ink::dim);
  if (columns.each) canvas.put_right("each", 9, Ink::dim);
  canvas.put("  class", Ink::dim).end();
}

void put_row(const TextPage& page, const FoundEdge& edge, const Columns& columns) {
  Canvas& canvas = page.canvas;
  canvas.to(2);
  put_edge(page, edge, columns.edge);
  canvas.to(2 + columns.edge);
  canvas.put_right(format_seconds(edge.weight_s), 9, Ink::strong)
      .put_right(page.share(edge.weight_s), 8, Ink::strong);
  const bool counted = !edge.idle && edge.waits != 0;
  if (columns.waited) canvas.put_right(format_seconds(edge.wait_s), 9);
  if (columns.waits != 0) canvas.put_right(counted ? format_count(edge.waits) : "", columns.waits);
  if (columns.each) canvas.put_right(counted ? format_seconds(edge.each_s) : "", 9);
  canvas.put("  ").put(classes_text(edge)).end();
}

void put_meanwhile(const TextPage& page, const FoundEdge& edge) {
  if (edge.idle) {
    put_label(page.canvas, "spare");
    page.canvas.flow(words(spare_text(page.findings, edge, page.names)), kLabelled);
    return;
  }
  if (const std::string did = waker_text(edge, page.names); !did.empty()) {
    put_label(page.canvas, "meanwhile");
    page.canvas.flow(words(did), kLabelled);
  }
  if (page.verbose || edge.waker_running_s >= kPlaceShare * edge.wait_s) {
    put_places(page, edge.waker_samples);
  }
}

}  // namespace

void put_edge(const TextPage& page, const FoundEdge& edge, int columns) {
  Canvas& canvas = page.canvas;
  const std::string from = canvas.clean(page.brief(edge.from));
  const std::string to = canvas.clean(page.brief(edge.to));
  const std::string arrow = canvas.clean(" → ");
  if (display_width(from) + display_width(arrow) + display_width(to) <= columns) {
    canvas.put(from, Ink::actor).put(arrow, Ink::dim).put(to, Ink::actor);
    return;
  }
  const int room = columns - display_width(arrow);
  const int from_columns = std::max(room / 2, room - display_width(to));
  canvas.put(canvas.fit(from, from_columns), Ink::actor).put(arrow, Ink::dim);
  canvas.put(canvas.fit(to, room - std::min(from_columns, display_width(from))), Ink::actor);
}

void put_edge_details(const TextPage& page, const FoundEdge& edge) {
  if (edge.phases) {
    put_label(page.canvas, "when");
    page.canvas.flow(words(phases_text(*edge.phases, page.findings.window_s)), kLabelled);
  }
  put_meanwhile(page, edge);
  if (const std::string peers = peers_text(edge, page.limit(kPeers, edge.peers.size())); !peers.empty()) {
    put_label(page.canvas, "peers");
    page.canvas.flow(words(peers), kLabelled);
  }
}

void put_edges(const TextPage& page, const std::vector<FoundEdgeId>& edges, std::size_t most) {
  const std::size_t shown = page.limit(most, edges.size());
  const Columns columns = columns_of(page, edges, shown);
  put_head(page.canvas, columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const FoundEdge& edge = page.findings.edges[edges[i]];
    put_row(page, edge, columns);
    put_edge_details(page, edge);
    put_stacks(page, edge);
  }
  put_left_out(page.canvas, edges.size() - shown, "edge");
}

bool weights_need_a_word(const Findings& findings, const std::vector<FoundEdgeId>& edges) {
  return std::any_of(edges.begin(), edges.end(), [&findings](FoundEdgeId id) {
    const FoundEdge& edge = findings.edges[id];
    return findings.actors[edge.from].tids.size() > 1 || edge.weight_s > findings.window_s;
  });
}

}  // namespace offwait
