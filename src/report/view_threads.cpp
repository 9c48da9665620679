// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/views.h"
#include "report/wording_views.h"

namespace offwait {

namespace {

constexpr int kShare = 6;
constexpr int kSeconds = 9;
constexpr int kThreadName = 30;
constexpr int kCause = 10;
constexpr int kFile = 40;
constexpr std::size_t kThreadFrames = 5;

void put_row(const TextPage& page, const FoundCriticalThread& thread, double whole_s) {
  Canvas& canvas = page.canvas;
  canvas.put(canvas.fit(thread.name, kThreadName - 10), Ink::actor)
      .put(fmt::format(" {}", thread.tid))
      .to(kThreadName);
  canvas.put_right(format_seconds(thread.critical_s), kSeconds);
  canvas.put_right(cell(thread.critical_s, whole_s), kShare);
  const double window_s = page.findings.window_s;
  const CodeTime& time = thread.time;
  for (const double part_s : {time.cpu_s, time.io_s, time.lock_s, time.runnable_s, time.other_s}) {
    canvas.put_right(cell(part_s, window_s), kShare);
  }
  canvas.end();
}

void put_threads(const TextPage& page) {
  const FoundThreads& all = page.findings.views.threads;
  Canvas& canvas = page.canvas;
  put_paragraph(canvas, "THREADS", threads_meaning(all));
  canvas.gap();
  canvas.put("thread").to(kThreadName).put_right("critical", kSeconds);
  for (const char* const title : {"crit", "cpu", "io", "lock", "run", "oth"}) canvas.put_right(title, kShare);
  canvas.end();
  const std::size_t shown = page.limit(kViewRows, all.rows.size());
  for (std::size_t i = 0; i < shown; ++i) put_row(page, all.rows[i], all.critical_s);
  put_more_rows(page, all.rows.size() - shown);
}

void put_stacks_of(const TextPage& page, const std::string& title, const std::string& meaning,
                   const std::vector<FoundCriticalStack>& stacks, bool with_cause) {
  if (stacks.empty()) return;
  const FoundThreads& all = page.findings.views.threads;
  Canvas& canvas = page.canvas;
  put_heading(canvas, title, meaning);
  const std::size_t shown = page.limit(kViewRows, stacks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FoundCriticalStack& stack = stacks[i];
    canvas.put_right(format_seconds(stack.critical_s), kSeconds);
    canvas.put_right(cell(stack.critical_s, all.critical_s), kShare).put("  ");
    int indent = kSeconds + kShare + 2;
    if (with_cause) {
      canvas.put(to_string(stack.cause)).to(indent + kCause);
      indent += kCause;
    }
    std::vector<Word> line;
    if (stack.file) line = words(canvas.fit(file_text(*stack.file), kFile) + " in", Ink::actor);
    const std::vector<Word> place = chain(page, stack.stack, "", kThreadFrames);
    line.insert(line.end(), place.begin(), place.end());
    if (place.empty()) line = words("no stack");
    canvas.flow(line, indent, page.verbose ? 0 : 2);
  }
  put_more_rows(page, stacks.size() - shown);
}

}  // namespace

void put_critical_threads(const TextPage& page) {
  const FoundThreads& all = page.findings.views.threads;
  put_threads(page);
  put_stacks_of(page, "CRITICAL STACKS",
                "what running ended in: criticality, its part in %, cause; of a thread that was preempted, "
                "the code that it ran",
                all.stacks, true);
  put_stacks_of(page, "CRITICAL WAKERS",
                "where threads let others go that waited for a futex: criticality since they began to run, "
                "or since they last let one go",
                all.wakers, false);
  put_stacks_of(page, "CRITICAL FILE ACTIVITY",
                "running that ended in waits for files, journals, disks and pipes", all.files, false);
}

}  // namespace offwait
