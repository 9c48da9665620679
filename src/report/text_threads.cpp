// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_threads.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/blocked_places.h"
#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/wording.h"
#include "report/wording_cpus.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

constexpr std::size_t kRunnable = 3;
constexpr double kMuchStopped = 0.01;  // of the window
constexpr std::size_t kFalseWakeups = 3;
constexpr std::size_t kOpenWaits = 5;
// Complete user stacks for less than this part of the wait time are worth a word.
constexpr double kStacksComplete = 0.99;

void put_holder(const TextPage& page, const FoundOpenWait& open) {
  std::vector<Word> line = words(holder_text(page.findings, open, page.names));
  if (const FoundOpenWait* const holder = blocked_holder(page.findings, open)) {
    const std::vector<Word> stack = chain(page, holder->wait_stack, "");
    line.insert(line.end(), stack.begin(), stack.end());
  }
  page.canvas.to(6).flow(line, 8, 2);
}

void put_blocked(const TextPage& page, const BlockedPlace& place) {
  Canvas& canvas = page.canvas;
  const FoundOpenWait& open = page.findings.open_waits[place.open_wait];
  canvas.to(2).put(page.full(open.actor), Ink::actor);
  if (page.findings.actors[open.actor].kind == ActorKind::group) {
    canvas.put(" " + format_plural(place.threads, "thread"));
  }
  canvas.put(fmt::format("  {}  {}  ", format_seconds(open.wait_s), to_string(open.wait_class)));
  if (page.verbose && !open.wait_stack.empty()) {
    canvas.end();
    put_stack(page, "waits in", open.wait_stack, "");
  } else {
    canvas.flow(chain(page, open.wait_stack, ""), 4, 2);
  }
  if (open.holder) put_holder(page, open);
}

}  // namespace

void put_stopped(const TextPage& page) {
  const Totals& totals = page.findings.totals;
  const double all_s = totals.stopped_s + totals.frozen_s;
  if (all_s < kMuchStopped * page.findings.window_s || page.findings.verdict.rule == Verdict::Rule::stopped) {
    return;
  }
  put_paragraph(page.canvas, "STOPPED",
                fmt::format("{}, all threads together: {}", format_seconds(all_s), why_stopped(totals)));
}

void put_runnable(const TextPage& page) {
  const Findings& findings = page.findings;
  if (!somebody_lacks_cpus(findings)) return;
  put_paragraph(page.canvas, "RUNNABLE",
                runnable_text(findings, page.names, page.limit(kRunnable, findings.actors.size())));
  // The first screen has named the cause if the lack of CPUs is the answer, or if others have the CPUs.
  const bool said = answers_can_be_judged(findings) ? findings.cpu_supply.cause == CpuSupply::Cause::others
                                                    : findings.verdict.rule == Verdict::Rule::lacks_cpu;
  if (said) return;
  if (const std::string why = cpu_supply_text(findings, page.names); !why.empty()) {
    page.canvas.to(2).flow(words(why), 2);
  }
}

void put_false_wakeups(const TextPage& page) {
  const FoundFalseWakeups& all = page.findings.false_wakeups;
  if (all.count == 0) return;
  const bool own = std::any_of(all.edges.begin(), all.edges.end(), [&page](const auto& edge) {
    return !page.findings.actors[edge.from].outside;
  });
  if (!page.verbose && !own) return;
  put_paragraph(page.canvas, "FALSE WAKEUPS",
                false_wakeups_text(all, page.names, page.limit(kFalseWakeups, all.edges.size())));
}

void put_blocked_throughout(const TextPage& page) {
  const BlockedThreads blocked = blocked_threads(page.findings);
  if (blocked.throughout.empty()) return;
  put_heading(page.canvas, "BLOCKED THROUGHOUT", "never woken in the window");
  const std::size_t shown = page.limit(kOpenWaits, blocked.throughout.size());
  for (std::size_t i = 0; i < shown; ++i) {
    put_blocked(page, blocked.throughout[i]);
  }
  put_left_out(page.canvas, blocked.throughout.size() - shown, "place");
  if (const std::string others = other_blocked_text(blocked); !others.empty()) {
    page.canvas.to(2).flow(words(others, Ink::dim), 2);
  }
}

void put_stack_ends(const TextPage& page) {
  const StackEnds& ends = page.findings.stack_ends;
  // A known stack is not walked again. If some of those that were checked were wrong, others may be wrong as
  // well.
  if (const StackReuse& reuse = page.findings.recording.stack_reuse; reuse.wrong != 0) {
    put_paragraph(page.canvas, "STACKS", wrong_stacks_text(reuse));
  }
  // If there is no stack at all, the recording was made without stacks.
  const double all = all_s(ends);
  if (all - ends.missing_s > 0 && ends.complete_s < kStacksComplete * all) {
    put_paragraph(page.canvas, "STACKS", stack_ends_text(ends));
  }
}

void put_cost(const TextPage& page) {
  if (const std::string cost = cost_text(page.findings.recording, page.verbose); !cost.empty())
    put_paragraph(page.canvas, "COST", cost);
}

}  // namespace offwait
