// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_sinks.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_edges.h"
#include "report/text_stacks.h"
#include "report/wording.h"
#include "report/wording_edges.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

constexpr std::size_t kSinks = 5;
constexpr std::size_t kServices = 3;
constexpr std::size_t kExcludedWaits = 3;

/// Where it sleeps, how often, and what is usually done about it.
void put_pace(const TextPage& page, const FoundSink& sink) {
  if (!sink.pattern) return;
  page.canvas.to(4).flow(words(fmt::format("{} {}", evidence(sink), advice(sink))), 4);
  for (const FoundEdge& edge : page.findings.edges) {
    if (edge.from == sink.actor && page.findings.actors[edge.to].kind == ActorKind::timer) {
      put_stacks(page, edge);
    }
  }
}

void put_sinks(const TextPage& page, const std::string& name, const std::string& meaning,
               bool (*belongs)(const FoundSink&)) {
  std::vector<const FoundSink*> all;
  for (const FoundSink& sink : page.findings.sinks) {
    if (belongs(sink)) all.push_back(&sink);
  }
  if (all.empty()) return;
  put_heading(page.canvas, name, meaning);
  const std::size_t shown = page.limit(kSinks, all.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FoundSink& sink = *all[i];
    page.canvas.to(2).put(page.full(sink.actor), Ink::actor).put("  ");
    page.canvas.flow(words(sink_text(page.findings, sink, page.limit(kServices, sink.services.size()))), 4);
    if (sink.samples.samples > 0) {
      put_label(page.canvas, "executes");
      put_places(page, sink.samples);
    }
    put_pace(page, sink);
  }
  put_left_out(page.canvas, all.size() - shown, "sink");
}

}  // namespace

void put_limiting_sinks(const TextPage& page) {
  put_sinks(page, "SATURATED", "waits for nobody and is busy all the time: what it executes limits",
            [](const FoundSink& sink) { return sink.saturated; });
  put_sinks(page, "PACED",
            "runs or sleeps until a time, and others wait for that: a limit on the rate, or something remote",
            [](const FoundSink& sink) { return sink.paced && sink.limit != SinkLimit::remote_service; });
  put_sinks(page, "REMOTE SERVICE", "asked by the target, and not on this host: how long it takes limits",
            [](const FoundSink& sink) { return sink.paced && sink.limit == SinkLimit::remote_service; });
}

void put_excluded_waits(const TextPage& page) {
  const std::vector<ExcludedWait>& all = page.findings.excluded_waits;
  if (page.findings.verdict.kind() == Verdict::Kind::knot) {
    put_heading(page.canvas, "LONG WAITS OUTSIDE THE KNOTS",
                "long, but shortening them alone does not raise throughput");
  } else {
    put_heading(page.canvas, "LONGEST WAITS");
  }
  // Waits of other programs must not crowd the screen.
  const std::size_t own = excluded_waits_of_target(page.findings);
  const std::size_t shown = page.limit(kExcludedWaits, page.verbose ? all.size() : own);
  for (std::size_t i = 0; i < shown; ++i) {
    const FoundEdge& edge = page.findings.edges[all[i].edge];
    page.canvas.to(2);
    put_edge(page, edge, std::max(page.canvas.width() * 2 / 5, 16));
    page.canvas
        .put(fmt::format("  {} {} {}, {}", format_seconds(edge.wait_s), page.share(edge.wait_s),
                         classes_text(edge), each_wait(edge)))
        .end();
    page.canvas.to(4);
    page.canvas.flow(words(excluded_wait_sentence(page.findings, all[i], page.names)), 4);
    put_edge_details(page, edge);
    if (i == 0 || page.verbose) put_stacks(page, edge);
  }
  if (!page.verbose) {
    put_left_out(page.canvas, own - shown, "wait");
    put_left_out(page.canvas, all.size() - own, "wait outside the target");
  }
}

}  // namespace offwait
