// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text.h"

#include "analysis/losses.h"
#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/text_devices.h"
#include "report/text_explain.h"
#include "report/text_knots.h"
#include "report/text_page.h"
#include "report/text_sinks.h"
#include "report/text_threads.h"
#include "report/wording.h"
#include "report/wording_losses.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

void put_head(const TextPage& page) {
  const Recording& recording = page.report.recording;
  const ReportTotals& totals = page.report.totals;
  page.canvas.flow(
      fields({words("offwait" + (recording.offwait.empty() ? "" : " " + recording.offwait), Ink::strong),
              words(recording.target, Ink::actor),
              words(format_seconds(page.report.window_s) +
                    (recording.start_time.empty() ? "" : " from " + recording.start_time)),
              words(recording.kernel.empty() ? "" : "Linux " + recording.kernel)}),
      2);
  const std::uint64_t lost = total_lost(page.report);
  page.canvas.flow(fields({words(threads_text(totals)), unbroken(format_plural(totals.waits, "wait")),
                           unbroken("ran " + format_seconds(totals.target.running_s) + " (" +
                                    cpus_used(page.report) + ")"),
                           unbroken("runnable " + format_seconds(totals.target.runnable_s)),
                           unbroken(machine_text(page.report)),
                           lost == 0 ? unbroken("nothing lost", Ink::good)
                                     : unbroken(format_count(lost) + " lost", Ink::warn)}),
                   2);
  if (const std::string chosen = described(page.report.options.filter); !chosen.empty()) {
    page.canvas.flow(words("Only " + chosen + " count as the target; all others are outside."), 2);
  }
}

bool something_lost(const Report& report) {
  return total_lost(report) > 0 || !actors_with_losses(report).empty();
}

void put_losses(const TextPage& page) {
  put_paragraph(page.canvas, total_lost(page.report) > 0 ? "LOST" : "GAPS",
                losses_text(page.report, page.names, page.verbose), Ink::warn, Ink::warn);
}

/// One line, as it does not change the answer.
void put_minor_losses(const TextPage& page, const LossImpact& impact) {
  put_paragraph(page.canvas, total_lost(page.report) > 0 ? "LOST" : "GAPS",
                page.verbose ? losses_text(page.report, page.names, true)
                             : minor_losses_text(page.report, impact) + " (-v)");
}

void put_verdict(const TextPage& page) {
  page.canvas.gap();
  page.canvas.flow(words(verdict_sentence(page.report, page.names), Ink::strong), 0);
}

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  const ActorNames names(report);
  Canvas canvas(style.width, style.color, style.charset);
  const TextPage page{report, names, style.verbosity > 0,
                      style.full_stacks ? StackNoise::kept : StackNoise::folded, canvas};
  put_head(page);
  const bool lost = something_lost(report);
  const LossImpact impact = loss_impact(report);
  if (lost && !impact.minor) put_losses(page);
  put_verdict(page);
  put_knots(page);
  put_limiting_sinks(page);
  put_elsewhere(page);
  put_background(page);
  put_runnable(page);
  put_disks(page);
  put_nics(page);
  put_false_wakeups(page);
  put_blocked_throughout(page);
  put_stack_ends(page);
  if (style.explain) put_search(page);
  if (lost && impact.minor) put_minor_losses(page, impact);
  return canvas.take();
}

}  // namespace offwait
