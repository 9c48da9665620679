// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_knots.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_edges.h"
#include "report/wording.h"
#include "report/wording_edges.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

// One screen: how much of each part is shown unless more is asked for.
constexpr std::size_t kKnots = 4;
constexpr std::size_t kTitleActors = 6;
constexpr std::size_t kBackground = 4;
/// Answers of which a knot is said to explain one: as many as are shown.
constexpr std::size_t kAnswers = 4;
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

/// The number that the first answer has which this knot explains, as far as answers are shown.
std::optional<std::size_t> explained_answer(const Findings& findings, const FoundKnot& knot) {
  const std::vector<const FoundAnswer*> answers = distinct_answers(findings);
  const auto index = static_cast<std::size_t>(&knot - findings.knots.data());
  for (std::size_t i = 0; i < std::min(kAnswers, answers.size()); ++i) {
    if (answers[i]->knot == index) return i + 1;
  }
  return std::nullopt;
}

bool shown_in_full(const Findings& findings, const FoundKnot& knot) {
  return !knot.background || findings.verdict.kind() == Verdict::Kind::background ||
         explained_answer(findings, knot) == 1;
}

/// `KNOT 2, explains answer 1`
std::string label_of(const Findings& findings, const FoundKnot& knot, std::size_t number) {
  const std::optional<std::size_t> answer =
      answers_can_be_judged(findings) ? explained_answer(findings, knot) : std::nullopt;
  return fmt::format("KNOT {}{}", number, answer ? fmt::format(", explains answer {}", *answer) : "");
}

void put_knot(const TextPage& page, const FoundKnot& knot, std::size_t number) {
  page.canvas.gap();
  const std::string label = label_of(page.findings, knot, number);
  const int indent = kKnotIndent;
  page.canvas.put(label, Ink::strong).put("  ");
  page.canvas.flow(words(title(page, knot), Ink::actor), indent);
  std::vector<Word> kind = words(pattern_title(knot), Ink::strong);
  const std::vector<Word> why = words(evidence(page.findings, knot, page.names));
  if (!why.empty()) kind.push_back({":", Ink::plain, true});
  kind.insert(kind.end(), why.begin(), why.end());
  page.canvas.to(indent).flow(kind, indent);
  page.canvas.to(indent).flow(words(advice(knot.pattern)), indent);
  put_edges(page, knot.edges);
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
  std::size_t number = 0;
  std::size_t more = 0;
  bool explained = false;
  for (const FoundKnot& knot : page.findings.knots) {
    if (!shown_in_full(page.findings, knot)) continue;
    if (++number > page.limit(kKnots, page.findings.knots.size())) {
      ++more;
      continue;
    }
    put_knot(page, knot, number);
    if (!explained && weights_need_a_word(page.findings, knot.edges)) {
      explained = true;
      page.canvas.to(2).flow(words(weight_explained(), Ink::dim), 2);
    }
  }
  if (more > 0) {
    page.canvas.gap();
    put_left_out(page.canvas, more, "knot", 0);
  }
}

void put_background(const TextPage& page) {
  std::vector<const FoundKnot*> knots;
  for (const FoundKnot& knot : page.findings.knots) {
    if (!shown_in_full(page.findings, knot)) knots.push_back(&knot);
  }
  std::vector<const FoundSink*> sinks;
  for (const FoundSink& sink : page.findings.sinks) {
    if (!sink.limits()) sinks.push_back(&sink);
  }
  if (knots.empty() && sinks.empty()) return;
  put_heading(page.canvas, "BACKGROUND",
              "does not limit: little CPU and no disk, or waits for nobody and is not always busy");
  const std::size_t shown = page.limit(kBackground, knots.size());
  for (std::size_t i = 0; i < shown; ++i) {
    page.canvas.to(2).put(title(page, *knots[i]), Ink::actor).put("  ");
    page.canvas.flow(words(background_knot_text(*knots[i])), 4);
  }
  put_left_out(page.canvas, knots.size() - shown, "knot");
  if (!sinks.empty()) put_background_sinks(page, sinks);
}

}  // namespace offwait
