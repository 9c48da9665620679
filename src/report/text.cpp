// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text.h"

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
#include "report/wording_memory.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

void put_head(const TextPage& page) {
  const LossImpact& impact = page.screen.losses;
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

/// Losses in one line, or in full with -v.
void put_losses(const TextPage& page) {
  const LossImpact& impact = page.screen.losses;
  const Ink ink = impact.minor ? Ink::plain : Ink::warn;
  put_paragraph(page.canvas, total_lost(page.findings) > 0 ? "LOST" : "GAPS",
                page.verbose ? losses_text(page.findings, page.names)
                             : brief_losses_text(page.findings, impact) + " (-v)",
                impact.minor ? Ink::strong : Ink::warn, ink);
  // What may change the answer stands above it.
  if (!impact.minor) page.canvas.gap();
}

void put_deadlocks(const TextPage& page) {
  page.canvas.gap();
  page.canvas.flow(words(deadlock_sentences(page.findings, page.names), Ink::warn), 0);
}

void put_verdict(const TextPage& page) {
  page.canvas.gap();
  page.canvas.flow(words(verdict_sentence(page.findings, page.names), Ink::strong), 0);
}

void put_section(const TextPage& page, ScreenSection section) {
  switch (section) {
    case ScreenSection::losses:
      return put_losses(page);
    case ScreenSection::deadlocks:
      return put_deadlocks(page);
    case ScreenSection::verdict:
      return put_verdict(page);
    case ScreenSection::too_short:
      return put_too_short(page);
    case ScreenSection::answers:
      return put_answers(page);
    case ScreenSection::memory:
      return put_paragraph(page.canvas, "MEMORY", memory_text(*page.findings.memory, page.names));
    case ScreenSection::graph:
      page.canvas.flow(words(graph_sentence(page.findings, page.names)), 0);
      return;
    case ScreenSection::what_ifs:
      return put_what_ifs(page);
    case ScreenSection::knots:
      return put_knots(page);
    case ScreenSection::sinks:
      return put_limiting_sinks(page);
    case ScreenSection::stopped:
      return put_stopped(page);
    case ScreenSection::runnable:
      return put_runnable(page);
    case ScreenSection::disks:
      return put_disks(page);
    case ScreenSection::nics:
      return put_nics(page);
    case ScreenSection::false_wakeups:
      return put_false_wakeups(page);
    case ScreenSection::wrong_stacks:
      return put_paragraph(page.canvas, "STACKS", wrong_stacks_text(page.findings.recording.stack_reuse));
    case ScreenSection::stack_ends:
      return put_paragraph(page.canvas, "STACKS", stack_ends_text(page.findings.stack_ends));
    case ScreenSection::cost:
      return put_paragraph(page.canvas, "COST", cost_text(page.findings.recording, page.verbose));
    case ScreenSection::search:
      return put_search(page);
    case ScreenSection::excluded_waits:
      return put_excluded_waits(page);
    case ScreenSection::background:
      return put_background(page);
    case ScreenSection::blocked:
      return put_blocked_throughout(page);
    case ScreenSection::left_out:
      page.canvas.gap();
      page.canvas.flow(words(rest_text(page.screen.left_out), Ink::dim), 0);
  }
}

}  // namespace

std::string to_text(const Findings& findings, const TextStyle& style) {
  Canvas canvas(style.width, style.color, style.charset);
  const ActorNames names(findings,
                         [&canvas](std::string_view name) { return canvas.fit(name, kNameColumns); });
  const Screen screen = screen_of(findings, {style.verbosity > 0, style.explain});
  const TextPage page{
      findings, screen, names, style.verbosity > 0, style.full_stacks ? StackNoise::kept : StackNoise::folded,
      canvas};
  put_head(page);
  put_runtimes(page);
  for (const ScreenSection section : screen.sections) put_section(page, section);
  return canvas.take();
}

}  // namespace offwait
