// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/views.h"

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/wording_answers.h"
#include "report/wording_progress.h"

namespace offwait {

namespace {

void put_view_head(const TextPage& page) {
  const Recording& recording = page.findings.recording;
  page.canvas.flow(
      fields({words("offwait" + (recording.offwait.empty() ? "" : " " + recording.offwait), Ink::strong),
              words(recording.target, Ink::actor), unbroken(format_seconds(page.findings.window_s))}),
      2);
  if (!page.findings.progress.empty()) {
    page.canvas.put("progress", Ink::strong).put("  ");
    page.canvas.flow(words(progress_text(page.findings.progress.front(), page.findings.window_s, page.names)),
                     10);
  }
}

}  // namespace

std::string cell(double part, double whole) {
  constexpr double kWorthANumber = 0.0005;
  if (!(whole > 0) || part < kWorthANumber * whole) return "";
  const double percent = 100 * part / whole;
  return percent >= 99.95 ? fmt::format("{:.0f}", percent) : fmt::format("{:.1f}", percent);
}

void put_more_rows(const TextPage& page, std::size_t count) { put_left_out(page.canvas, count, "row"); }

std::string to_text(const Findings& findings, View view, const TextStyle& style) {
  Canvas canvas(style.width, style.color, style.charset);
  const ActorNames names(findings,
                         [&canvas](std::string_view name) { return canvas.fit(name, kNameColumns); });
  const Screen screen;  // views have no sections
  const TextPage page{
      findings, screen, names, style.verbosity > 0, style.full_stacks ? StackNoise::kept : StackNoise::folded,
      canvas};
  put_view_head(page);
  switch (view) {
    case View::functions:
      put_functions(page);
      break;
    case View::threads:
      put_critical_threads(page);
      break;
    case View::locks:
      put_locks(page);
      break;
    case View::files:
      put_files(page);
      break;
  }
  return canvas.take();
}

}  // namespace offwait
