// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_threads.h"

#include <fmt/format.h>

#include "analysis/blocked_places.h"
#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/wording.h"
#include "report/wording_cpus.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

constexpr std::size_t kRunnable = 3;
constexpr std::size_t kFalseWakeups = 3;
constexpr std::size_t kOpenWaits = 5;

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
  put_paragraph(page.canvas, "STOPPED",
                fmt::format("{}, all threads together: {}", format_seconds(all_s), why_stopped(totals)));
}

void put_runnable(const TextPage& page) {
  const Findings& findings = page.findings;
  put_paragraph(page.canvas, "RUNNABLE",
                runnable_text(findings, page.names, page.limit(kRunnable, findings.actors.size())));
  if (!page.screen.why_runnable) return;
  if (const std::string why = cpu_supply_text(findings, page.names); !why.empty()) {
    page.canvas.to(2).flow(words(why), 2);
  }
}

void put_false_wakeups(const TextPage& page) {
  const FoundFalseWakeups& all = page.findings.false_wakeups;
  put_paragraph(page.canvas, "FALSE WAKEUPS",
                false_wakeups_text(all, page.names, page.limit(kFalseWakeups, all.edges.size())));
}

void put_blocked_throughout(const TextPage& page) {
  const BlockedThreads blocked = blocked_threads(page.findings);
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

}  // namespace offwait
