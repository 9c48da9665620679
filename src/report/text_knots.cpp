// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_knots.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_answers.h"
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

/// The number of the first answer shown that this knot explains.
std::optional<std::size_t> explained_answer(const TextPage& page, const FoundKnot& knot) {
  return answers_can_be_judged(page.findings) ? explained_answer(knot, page.findings, shown_answers(page))
                                              : std::nullopt;
}

/// Where there are answers, a knot is evidence for them. Without them it is the answer.
bool shown_in_full(const TextPage& page, const FoundKnot& knot) {
  if (!answers_can_be_judged(page.findings)) {
    return !knot.background || page.findings.verdict.kind() == Verdict::Kind::background;
  }
  return explained_answer(page, knot) || (page.verbose && !knot.background);
}

/// `KNOT 2, explains answer 1`
std::string label_of(std::size_t number, std::optional<std::size_t> answer) {
  return fmt::format("KNOT {}{}", number, answer ? fmt::format(", explains answer {}", *answer) : "");
}

/// Idle edges of devices are left out beside answers, because they explain none.
std::vector<FoundEdgeId> shown_edges(const TextPage& page, const FoundKnot& knot) {
  if (page.verbose || !answers_can_be_judged(page.findings)) return knot.edges;
  std::vector<FoundEdgeId> out;
  std::copy_if(knot.edges.begin(), knot.edges.end(), std::back_inserter(out),
               [&page](FoundEdgeId id) { return !page.findings.edges[id].idle; });
  return out;
}

/// What kind of bottleneck the knot is, and why. Where it explains an answer about a lock this is about that
/// lock, though what its holders wait for may be most of the knot.
std::pair<std::string, std::string> kind_of(const TextPage& page, const FoundKnot& knot,
                                            std::optional<std::size_t> explained) {
  const FoundAnswer* const answer = explained ? shown_answers(page)[*explained - 1] : nullptr;
  const bool of_lock = answer != nullptr && answer->what == Resource::waited;
  if (of_lock && knot.pattern != Pattern::lock_contention && knot.pattern != Pattern::lock_across_disk) {
    return {"lock contention", contention_text(*answer->lock)};
  }
  return {std::string(pattern_title(knot)), evidence(page.findings, knot, page.names)};
}

void put_knot(const TextPage& page, const FoundKnot& knot, std::size_t number) {
  page.canvas.gap();
  const std::optional<std::size_t> explained = explained_answer(page, knot);
  const std::string label = label_of(number, explained);
  const int indent = kKnotIndent;
  page.canvas.put(label, Ink::strong).put("  ");
  page.canvas.flow(words(title(page, knot), Ink::actor), indent);
  const auto [title_of_kind, evidence_of_kind] = kind_of(page, knot, explained);
  std::vector<Word> kind = words(title_of_kind, Ink::strong);
  const std::vector<Word> why = words(evidence_of_kind);
  if (!why.empty()) kind.push_back({":", Ink::plain, true});
  kind.insert(kind.end(), why.begin(), why.end());
  page.canvas.to(indent).flow(kind, indent);
  const bool beside_answers = answers_can_be_judged(page.findings);
  if (!beside_answers) page.canvas.to(indent).flow(words(advice(knot.pattern)), indent);
  put_edges(page, shown_edges(page, knot), beside_answers ? kEdgesBesideAnswers : kEdges);
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
    if (!shown_in_full(page, knot)) continue;
    if (++number > page.limit(kKnots, page.findings.knots.size())) {
      ++more;
      continue;
    }
    put_knot(page, knot, number);
    if (!explained && weights_need_a_word(page.findings, shown_edges(page, knot))) {
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
    if (knot.background && !shown_in_full(page, knot)) knots.push_back(&knot);
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
