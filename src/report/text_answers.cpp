// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_answers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/wording_advice.h"
#include "report/wording_answers.h"
#include "report/wording_cpus.h"
#include "report/wording_edges.h"
#include "report/wording_gains.h"
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

/// `41% of it in f ← g`
std::vector<Word> where(const TextPage& page, const FoundAnswer& answer) {
  const AnswerPlace place = place_of(answer);
  std::vector<Word> out = words(place.text);
  if (place.stack.empty()) return out;
  const bool is_waited = answer.what == Resource::waited || !answer.evidence.stack.empty();
  // The functions by which the kernel sleeps say nothing.
  const bool is_sleep = answer.what == Resource::waited || answer.what == Resource::sleep;
  const std::vector<Word> code =
      is_waited ? chain(page, told_by_callers(place.stack), "", kStackFrames, is_sleep ? 0 : kKernelFrames)
                : place_words(page, answer.evidence.samples.places.front());
  out.insert(out.end(), code.begin(), code.end());
  return out;
}

void put_evidence(const TextPage& page, const FoundAnswer& answer) {
  std::vector<Word> line = words(evidence_text(page.findings, answer, page.names));
  const std::vector<Word> place = where(page, answer);
  if (!place.empty()) {
    line.back().text += answer.what == Resource::waited ? ";" : ",";
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

/// `· the quota of cgroup /a gives it 0.40 CPUs`
std::string cpu_limit_text(const TextPage& page) {
  const std::string limit = cpu_limit_clause(page.findings, page.names);
  return limit.empty() ? "" : "· " + limit;
}

void put_answer(const TextPage& page, std::size_t number, const ShownAnswer& shown) {
  const FoundAnswer& answer = page.findings.answers[shown.answer];
  page.canvas.put(fmt::format("{}", number), Ink::strong).to(kNumbered);
  std::vector<Word> line;
  const auto add = [&line](const std::string& text, Ink ink) {
    const std::vector<Word> more = words(text, ink);
    line.insert(line.end(), more.begin(), more.end());
  };
  if (answer.certainty == Certainty::split) {
    add(fmt::format("for {}:", progress_told_apart(page.findings, answer.progress, page.names)), Ink::plain);
  }
  const std::string gain = answer_gain_text(answer);
  add(change_text(answer, page.names) + (gain.empty() ? "" : ":"), Ink::strong);
  add(gain, Ink::strong);
  add(certainty_mark(answer), Ink::dim);
  add(more_threads_text(page.findings, answer, page.names), Ink::strong);
  add(held_gain_text(answer), Ink::strong);
  add(sync_parts_text(answer), Ink::strong);
  const bool says_limit = shown.evidence || answer.evidence.pinned_to > 0;
  if (answer.what == Resource::cpus && !says_limit) add(cpu_limit_text(page), Ink::plain);
  page.canvas.flow(line, kNumbered);
  if (shown.evidence) put_evidence(page, answer);
}

}  // namespace

void put_too_short(const TextPage& page) {
  put_progress(page);
  page.canvas.gap();
  page.canvas.flow(words(too_short_text(page.findings, page.names), Ink::strong), 0);
}

void put_answers(const TextPage& page) {
  put_progress(page);
  page.canvas.gap();
  const Screen& screen = page.screen;
  std::vector<std::string> above = {screen.neighbours ? neighbours_text(page.findings, page.names) : "",
                                    answers_heading(page.findings, screen.heading, page.names)};
  // It is the answer.
  if (screen.heading.what == AnswersHeading::What::held_back) std::swap(above[0], above[1]);
  for (const std::string& text : above) {
    if (!text.empty()) page.canvas.flow(words(text, Ink::strong), 0);
  }
  for (std::size_t i = 0; i < screen.answers.size(); ++i) put_answer(page, i + 1, screen.answers[i]);
  if (!screen.answers.empty()) {
    const FoundAnswer& first = page.findings.answers[screen.answers.front().answer];
    std::vector<std::string> doubts = {answer_certainty_sentence(page.findings, first)};
    if (!held_gain_text(first).empty()) {
      doubts.push_back(certainty_sentence(page.findings, *first.lock->held));
    }
    for (const std::string& doubt : doubts) {
      if (!doubt.empty()) page.canvas.flow(words(doubt), 0);
    }
  }
  if (screen.others) page.canvas.flow(words(others_text(*screen.others)), 0);
}

void put_what_ifs(const TextPage& page) {
  const Findings& findings = page.findings;
  page.canvas.gap();
  std::vector<std::string> sentences;
  if (!page.screen.answers.empty()) {
    sentences.push_back(
        answer_certainty_sentence(findings, findings.answers[page.screen.answers.front().answer]));
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
