// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_answers.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/wording_advice.h"
#include "report/wording_answers.h"
#include "report/wording_cpus.h"
#include "report/wording_edges.h"
#include "report/wording_locks.h"
#include "report/wording_progress.h"

namespace offwait {

namespace {

constexpr int kNumbered = 3;
constexpr std::size_t kStackFrames = 4;

void put_progress(const TextPage& page) {
  page.canvas.put("progress", Ink::strong).put("  ");
  page.canvas.flow(words(progress_text(page.findings.progress.front(), page.findings.window_s, page.names)),
                   10);
}

/// `41% of it in f ← g`: where the part waits most or, for CPU work, where it was sampled most.
std::vector<Word> where(const TextPage& page, const FoundAnswer& answer) {
  const AnswerEvidence& evidence = answer.evidence;
  std::vector<Word> out;
  const auto add = [&out](const std::vector<Word>& more) { out.insert(out.end(), more.begin(), more.end()); };
  if (answer.what == Resource::waited) {
    if (answer.lock->stack.empty()) return out;
    add(words("taken in"));
    add(chain(page, told_by_callers(answer.lock->stack), "", kStackFrames, 0));
  } else if (!evidence.stack.empty()) {
    const std::string part = evidence.stack_s < 0.95 * evidence.time_s
                                 ? format_percent(evidence.stack_s, evidence.time_s) + " of it in"
                                 : std::string("in");
    add(words(part));
    // The functions by which the kernel sleeps say nothing.
    add(chain(page, told_by_callers(evidence.stack), "", kStackFrames,
              answer.what == Resource::sleep ? 0 : kKernelFrames));
  } else if (evidence.samples.spread) {
    add(words(spread_text(evidence.samples)));
  } else if (const std::vector<FunctionPlace>& places = evidence.samples.places; !places.empty()) {
    add(words(fmt::format("{} of it in", format_percent(places.front().share, 1))));
    add(place_words(page, places.front()));
  }
  return out;
}

void put_evidence(const TextPage& page, const FoundAnswer& answer) {
  std::vector<Word> line = words(evidence_text(page.findings, answer, page.names));
  const std::vector<Word> place = where(page, answer);
  if (!place.empty()) {
    line.back().text += ",";
    line.insert(line.end(), place.begin(), place.end());
  }
  page.canvas.to(kNumbered).flow(line, kNumbered, page.verbose ? 0 : 3);
  if (const std::string device = device_text(page.findings, answer, page.names); !device.empty()) {
    page.canvas.to(kNumbered).flow(words(device), kNumbered);
  }
  if (const std::string service = service_text(answer, page.names); !service.empty()) {
    page.canvas.to(kNumbered).flow(words(service), kNumbered);
  }
  if (const std::string full = full_text(answer, page.names); !full.empty()) {
    page.canvas.to(kNumbered).flow(words(full), kNumbered);
  }
  page.canvas.to(kNumbered).put("try", Ink::good);
  page.canvas.to(kNumbered + 6).flow(words(advice(page.findings, answer, page.names)), kNumbered + 6);
}

/// Whether an answer's evidence is shown: that of the first one for each progress.
bool is_explained(const TextPage& page, const std::vector<const FoundAnswer*>& all, std::size_t index) {
  return page.verbose || index == 0 || all[index]->progress != all.front()->progress;
}

/// What the answers gain that the screen does not show. Locks are answers, too.
std::vector<double> gains_left_out(const std::vector<const FoundAnswer*>& all, std::size_t shown) {
  std::vector<double> out;
  for (std::size_t i = shown; i < all.size(); ++i) out.push_back(most_of(*all[i]));
  return out;
}

void put_answer(const TextPage& page, std::size_t number, const FoundAnswer& answer, bool whole) {
  page.canvas.put(fmt::format("{}", number), Ink::strong).to(kNumbered);
  std::vector<Word> line;
  const auto add = [&line](const std::string& text, Ink ink) {
    const std::vector<Word> more = words(text, ink);
    line.insert(line.end(), more.begin(), more.end());
  };
  if (answer.certainty == Certainty::split) {
    add(fmt::format("for {}:", progress_told_apart(page.findings, answer.progress, page.names)), Ink::plain);
  }
  // The gain of a lock is a bound, also where it depends on whose progress counts.
  const bool bound = answer.what == Resource::waited && answer.certainty == Certainty::split;
  const std::string gain = (bound ? "up to " : "") + gain_text(answer);
  add(change_text(answer, page.names) + (gain.empty() ? "" : ":"), Ink::strong);
  add(gain, Ink::strong);
  add(fmt::format("[{}]", to_string(answer.certainty)), Ink::dim);
  add(more_threads_text(answer), Ink::strong);
  add(held_gain_text(answer), Ink::strong);
  add(sync_parts_text(answer), Ink::strong);
  page.canvas.flow(line, kNumbered);
  if (whole) {
    put_evidence(page, answer);
  }
}

}  // namespace

std::vector<const FoundAnswer*> shown_answers(const TextPage& page) {
  return page.verbose ? distinct_answers(page.findings) : first_answers(page.findings);
}

void put_answers(const TextPage& page) {
  put_progress(page);
  page.canvas.gap();
  if (const std::string why = too_short_text(page.findings, page.names); !why.empty()) {
    page.canvas.flow(words(why, Ink::strong), 0);
    return;
  }
  const std::string held = held_back_text(page.findings, page.names);
  const std::string neighbours = neighbours_text(page.findings, page.names);
  // A target that waits for what TCP holds back is neither idle nor balanced.
  const std::string heading = held.empty() ? answers_heading(page.findings, page.names) : "";
  for (const std::string& text : {held, neighbours, heading}) {
    if (!text.empty()) page.canvas.flow(words(text, Ink::strong), 0);
  }
  const std::vector<const FoundAnswer*> all = distinct_answers(page.findings);
  const std::size_t shown = shown_answers(page).size();
  for (std::size_t i = 0; i < shown; ++i) put_answer(page, i + 1, *all[i], is_explained(page, all, i));
  if (all.empty()) return;
  const std::string doubt = shown > 0 ? certainty_sentence(page.findings, *all.front()) : "";
  if (!doubt.empty()) {
    page.canvas.flow(words(doubt), 0);
  }
  const bool all_known = shown < all.size() || has_all_answers(page.findings);
  if (all.front()->certainty != Certainty::rough && all_known) {
    const std::vector<double> gains = gains_left_out(all, shown);
    const double most_gain = gains.empty() ? 0 : *std::max_element(gains.begin(), gains.end());
    page.canvas.flow(words(others_text(gains.size(), most_gain)), 0);
  }
}

void put_what_ifs(const TextPage& page) {
  const Findings& findings = page.findings;
  if (findings.what_ifs.empty() || short_evidence(findings) != ShortEvidence::none) {
    return;
  }
  page.canvas.gap();
  std::vector<std::string> sentences;
  if (!findings.answers.empty()) {
    sentences.push_back(certainty_sentence(findings, findings.answers.front()));
  }
  for (const FoundWhatIf& what_if : findings.what_ifs) {
    page.canvas.flow(words(what_if_text(findings, what_if, page.names), Ink::strong), 2);
    const std::string doubt = certainty_sentence(findings, what_if, "the direction");
    if (!doubt.empty() && std::find(sentences.begin(), sentences.end(), doubt) == sentences.end()) {
      page.canvas.flow(words(doubt), 0);
      sentences.push_back(doubt);
    }
  }
}

}  // namespace offwait
