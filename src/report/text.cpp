// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text.h"

#include "analysis/losses.h"
#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_answers.h"
#include "report/text_devices.h"
#include "report/text_explain.h"
#include "report/text_knots.h"
#include "report/text_page.h"
#include "report/text_sinks.h"
#include "report/text_threads.h"
#include "report/wording.h"
#include "report/wording_answers.h"
#include "report/wording_losses.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

void put_head(const TextPage& page, const LossImpact& impact) {
  const Recording& recording = page.findings.recording;
  const Totals& totals = page.findings.totals;
  page.canvas.flow(
      fields({words("offwait" + (recording.offwait.empty() ? "" : " " + recording.offwait), Ink::strong),
              words(recording.target, Ink::actor), unbroken(format_seconds(page.findings.window_s)),
              words(threads_text(totals)), unbroken("ran " + cpus_used(page.findings)),
              unbroken(machine_text(page.findings)),
              unbroken(lost_text(page.findings, impact),
                       impact.unknown_s > 0 || !impact.minor ? Ink::warn : Ink::good)}),
      2);
  if (page.verbose) {
    page.canvas.to(2).flow(fields({words(recording.start_time.empty() ? "" : "from " + recording.start_time),
                                   words(recording.kernel.empty() ? "" : "Linux " + recording.kernel),
                                   unbroken(format_plural(totals.waits, "wait")),
                                   unbroken("ran " + format_seconds(totals.target.running_s)),
                                   unbroken("runnable " + format_seconds(totals.target.runnable_s))}),
                           2);
  }
  for (const std::string& more : {labels_text(recording), interrupted_text(recording)}) {
    if (!more.empty()) page.canvas.flow(words(more), 2);
  }
  if (const std::string chosen = described(page.findings.options.filter); !chosen.empty()) {
    page.canvas.flow(words("Only " + chosen + " count as the target; all others are outside."), 2);
  }
}

void put_runtimes(const TextPage& page) {
  for (const FoundRuntime& found : page.findings.runtimes) {
    if (const std::string text = runtime_text(found); !text.empty()) {
      page.canvas.put("runtime", Ink::strong).put("   ");
      page.canvas.flow(words(text), 10);
    }
  }
}

bool something_lost(const Findings& findings) {
  return total_lost(findings) > 0 || !actors_with_losses(findings).empty();
}

/// Losses in one line, or in full with -v.
void put_losses(const TextPage& page, const LossImpact& impact) {
  const Ink ink = impact.minor ? Ink::plain : Ink::warn;
  put_paragraph(page.canvas, total_lost(page.findings) > 0 ? "LOST" : "GAPS",
                page.verbose ? losses_text(page.findings, page.names)
                             : brief_losses_text(page.findings, impact) + " (-v)",
                impact.minor ? Ink::strong : Ink::warn, ink);
}

/// The answers or, where there is nothing that makes progress, the verdict of the wait graph. A deadlock
/// comes first.
void put_first_screen(const TextPage& page) {
  if (page.findings.progress.empty()) {
    page.canvas.gap();
    page.canvas.flow(words(verdict_sentence(page.findings, page.names), Ink::strong), 0);
    put_what_ifs(page);
    return;
  }
  if (const std::string stuck = deadlock_sentences(page.findings, page.names); !stuck.empty()) {
    page.canvas.gap();
    page.canvas.flow(words(stuck, Ink::warn), 0);
  }
  put_answers(page);
  if (!answers_can_be_judged(page.findings)) {
    page.canvas.flow(words(graph_sentence(page.findings, page.names)), 0);
  }
  put_what_ifs(page);
}

/// Waits and actors that limit nothing. They are of use where there is no answer, or where threads are stuck.
void put_rest(const TextPage& page) {
  const bool answered = answers_can_be_judged(page.findings);
  const bool all = page.verbose || !answered || somebody_is_stuck(page.findings);
  if (all) {
    put_excluded_waits(page);
    put_background(page);
    put_blocked_throughout(page);
  }
  if (page.verbose || !answered) return;
  LeftOut more = left_out(page.findings);
  if (all) more = {.knots = more.knots};
  if (const std::string text = rest_text(more); !text.empty()) {
    page.canvas.gap();
    page.canvas.flow(words(text, Ink::dim), 0);
  }
}

}  // namespace

std::string to_text(const Findings& findings, const TextStyle& style) {
  Canvas canvas(style.width, style.color, style.charset);
  const ActorNames names(findings,
                         [&canvas](std::string_view name) { return canvas.fit(name, kNameColumns); });
  const TextPage page{findings, names, style.verbosity > 0,
                      style.full_stacks ? StackNoise::kept : StackNoise::folded, canvas};
  const bool lost = something_lost(findings);
  const LossImpact impact = loss_impact(findings);
  put_head(page, impact);
  put_runtimes(page);
  // What may change the answer stands above it.
  if (lost && !impact.minor) {
    put_losses(page, impact);
    canvas.gap();
  }
  put_first_screen(page);
  put_knots(page);
  put_limiting_sinks(page);
  put_stopped(page);
  put_runnable(page);
  put_disks(page);
  put_nics(page);
  put_false_wakeups(page);
  put_stack_ends(page);
  put_cost(page);
  if (style.explain) put_search(page);
  put_rest(page);
  if (lost && impact.minor) put_losses(page, impact);
  return canvas.take();
}

}  // namespace offwait
