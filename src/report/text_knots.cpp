// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_knots.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_edges.h"
#include "report/wording.h"
#include "report/wording_edges.h"
#include "report/wording_locks.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

// One screen: how much of each part is shown unless more is asked for.
constexpr std::size_t kKnots = 4;
constexpr std::size_t kTitleActors = 6;
constexpr std::size_t kBackground = 4;
constexpr std::size_t kEdges = 6;
/// How many edges of a knot that explains an answer the screen has.
constexpr std::size_t kEdgesBesideAnswers = 3;
constexpr int kKnotIndent = 8;

std::string title(const TextPage& page, const FoundKnot& knot) {
  const std::vector<FoundActorId>& actors = knot.actors;
  if (actors.size() == 1) return page.full(actors[0]) + " ↺";
  if (actors.size() == 2) return fmt::format("{} ⇄ {}", page.full(actors[0]), page.full(actors[1]));
  const std::vector<FoundActorId> cycle = simple_cycle(page.findings, knot, kTitleActors);
  std::string out;
  if (cycle.size() == actors.size()) {
    for (const FoundActorId actor : cycle) out += page.full(actor) + " → ";
    return out + page.brief(cycle[0]);
  }
  const std::size_t shown = page.limit(kTitleActors, actors.size());
  for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : ", ") + page.full(actors[i]);
  return shown < actors.size() ? fmt::format("{} and {} more", out, format_count(actors.size() - shown))
                               : out;
}

/// `KNOT 2, explains answer 1`
std::string label_of(std::size_t number, std::optional<std::size_t> answer) {
  return fmt::format("KNOT {}{}", number, answer ? fmt::format(", explains answer {}", *answer + 1) : "");
}

/// What kind of bottleneck the knot is, and why. Where it explains an answer about a lock this is about that
/// lock, though what its holders wait for may be most of the knot.
std::pair<std::string, std::string> kind_of(const TextPage& page, const ShownKnot& shown) {
  const FoundKnot& knot = page.findings.knots[shown.knot];
  const FoundAnswer* const answer =
      shown.explains ? &page.findings.answers[page.screen.answers[*shown.explains].answer] : nullptr;
  const bool of_lock = answer != nullptr && answer->what == Resource::waited;
  if (of_lock && knot.pattern != Pattern::lock_contention && knot.pattern != Pattern::lock_across_disk) {
    return {"lock contention", contention_text(*answer->lock)};
  }
  return {std::string(pattern_title(knot)), evidence(page.findings, knot, page.names)};
}

void put_knot(const TextPage& page, const ShownKnot& shown, std::size_t number) {
  page.canvas.gap();
  const FoundKnot& knot = page.findings.knots[shown.knot];
  const std::string label = label_of(number, shown.explains);
  const int indent = kKnotIndent;
  page.canvas.put(label, Ink::strong).put("  ");
  page.canvas.flow(words(title(page, knot), Ink::actor), indent);
  const auto [title_of_kind, evidence_of_kind] = kind_of(page, shown);
  std::vector<Word> kind = words(title_of_kind, Ink::strong);
  const std::vector<Word> why = words(evidence_of_kind);
  if (!why.empty()) kind.push_back({":", Ink::plain, true});
  kind.insert(kind.end(), why.begin(), why.end());
  page.canvas.to(indent).flow(kind, indent);
  const bool beside_answers = page.screen.has(ScreenSection::answers);
  if (!beside_answers) page.canvas.to(indent).flow(words(advice(knot.pattern)), indent);
  put_edges(page, shown.edges, beside_answers ? kEdgesBesideAnswers : kEdges);
}

void put_background_sinks(const TextPage& page, const std::vector<const FoundSink*>& sinks) {
  const std::size_t shown = page.limit(kBackground, sinks.size());
  std::vector<Word> line;
  for (std::size_t i = 0; i < shown; ++i) {
    line.push_back({page.full(sinks[i]->actor), Ink::actor});
    line.push_back({sink_share(page.findings, *sinks[i])});
    line.push_back({i + 1 < sinks.size() ? "," : "", Ink::plain, true});
  }
  if (shown < sinks.size()) {
    line.push_back({format_count(sinks.size() - shown) + " more (-v)", Ink::dim});
  }
  page.canvas.to(2);
  page.canvas.flow(line, 4);
}

}  // namespace

void put_knots(const TextPage& page) {
  const std::vector<ShownKnot>& knots = page.screen.knots;
  const std::size_t shown = page.limit(kKnots, knots.size());
  bool explained = false;
  for (std::size_t i = 0; i < shown; ++i) {
    put_knot(page, knots[i], i + 1);
    if (!explained && weights_need_a_word(page.findings, knots[i].edges)) {
      explained = true;
      page.canvas.to(2).flow(words(weight_explained(), Ink::dim), 2);
    }
  }
  if (shown < knots.size()) {
    page.canvas.gap();
    put_left_out(page.canvas, knots.size() - shown, "knot", 0);
  }
}

void put_background(const TextPage& page) {
  const std::vector<std::size_t>& knots = page.screen.background_knots;
  std::vector<const FoundSink*> sinks;
  for (const FoundSink& sink : page.findings.sinks) {
    if (!sink.limits()) sinks.push_back(&sink);
  }
  put_heading(page.canvas, "BACKGROUND",
              "does not limit: little CPU and no disk, or waits for nobody and is not always busy");
  const std::size_t shown = page.limit(kBackground, knots.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FoundKnot& knot = page.findings.knots[knots[i]];
    page.canvas.to(2).put(title(page, knot), Ink::actor).put("  ");
    page.canvas.flow(words(background_knot_text(knot)), 4);
  }
  put_left_out(page.canvas, knots.size() - shown, "knot");
  if (!sinks.empty()) put_background_sinks(page, sinks);
}

}  // namespace offwait
