// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/views.h"
#include "report/wording_views.h"

namespace offwait {

namespace {

constexpr int kLockName = 40;
constexpr int kKind = 11;
constexpr int kLockSeconds = 9;
constexpr int kCount = 10;
constexpr int kLine = 11;
constexpr std::size_t kLockFrames = 6;

void put_place(const TextPage& page, const std::string& label, const std::string& part,
               const Backtrace& stack) {
  std::vector<Word> line = words(part);
  const std::vector<Word> frames = chain(page, stack, "", kLockFrames);
  line.insert(line.end(), frames.begin(), frames.end());
  if (frames.empty()) return;
  put_label(page.canvas, label);
  page.canvas.flow(line, kLabelled, page.verbose ? 0 : 2);
}

/// Without the outer namespaces of a function where the whole is too long.
std::string fitting(const TextPage& page, const std::string& name) {
  const std::size_t of = name.find(" of ");
  const std::size_t begin = of == std::string::npos ? 0 : of + 4;
  std::string out = name;
  for (std::size_t at = begin; page.canvas.columns(out) >= kLockName;) {
    const std::size_t next = name.find("::", at);
    if (next == std::string::npos) break;
    at = next + 2;
    out = name.substr(0, begin) + name.substr(at);
  }
  return page.canvas.fit(out, kLockName - 1);
}

void put_held(const TextPage& page, const FoundSamples& held) {
  if (held.places.empty()) return;
  const FunctionPlace& most = held.places.front();
  std::vector<Word> line = words(format_percent(most.share, 1));
  const std::vector<Word> code = place_words(page, most);
  line.insert(line.end(), code.begin(), code.end());
  put_label(page.canvas, "held in");
  page.canvas.flow(line, kLabelled, page.verbose ? 0 : 2);
}

void put_row(const TextPage& page, const FoundLockRow& lock) {
  Canvas& canvas = page.canvas;
  const std::string kind = lock.kind == LockKind::kernel_lock && lock.object.lock != KernelLock::unknown
                               ? std::string(to_string(lock.object.lock))
                               : std::string(to_string(lock.kind));
  canvas.put(fitting(page, lock.name), Ink::actor).to(kLockName).put(kind).to(kLockName + kKind);
  canvas.put_right(format_seconds(lock.wait_s), kLockSeconds);
  canvas.put_right(format_count(lock.waits), kCount);
  canvas.put_right(format_seconds(lock.longest_s), kLockSeconds);
  canvas.put_right(fmt::format("{}/{}", format_ratio(lock.mean_line), lock.longest_line), kLine);
  canvas.end();
  if (const std::string why = lock_evidence_text(lock); !why.empty()) {
    put_label(canvas, "known by");
    canvas.flow(words(why), kLabelled, page.verbose ? 0 : 2);
  }
  const std::size_t places = page.limit(1, lock.places.size());
  for (std::size_t i = 0; i < places; ++i) {
    const FoundLockRow::Place& place = lock.places[i];
    put_place(page, "waits in", places > 1 ? format_percent(place.wait_s, lock.wait_s) : "", place.stack);
  }
  if (const std::string holder = holder_text(lock, page.names); !holder.empty()) {
    put_label(page.canvas, "");
    page.canvas.flow(words(holder), kLabelled, page.verbose ? 0 : 2);
  }
  put_held(page, lock.held);
  put_place(page, "let go in", "", lock.let_go);
}

void put_rows(const TextPage& page, std::span<const FoundLockRow> rows) {
  const std::size_t shown = page.limit(kViewRows, rows.size());
  for (const FoundLockRow& row : rows.first(shown)) put_row(page, row);
  put_more_rows(page, rows.size() - shown);
}

}  // namespace

void put_locks(const TextPage& page) {
  const FoundLocks& all = page.findings.views.locks;
  Canvas& canvas = page.canvas;
  put_paragraph(canvas, "LOCKS", locks_meaning(all));
  canvas.gap();
  canvas.put("lock").to(kLockName).put("kind").to(kLockName + kKind);
  canvas.put_right("waited", kLockSeconds).put_right("waits", kCount).put_right("longest", kLockSeconds);
  canvas.put_right("line", kLine).end();
  const auto locks = static_cast<std::size_t>(std::count_if(
      all.rows.begin(), all.rows.end(), [](const FoundLockRow& row) { return is_lock(row.kind); }));
  put_rows(page, {all.rows.data(), locks});
  if (locks == all.rows.size()) return;
  put_heading(canvas, "CONDITIONS AND QUEUES", "waits until something happens; the columns are the same");
  put_rows(page, std::span(all.rows).subspan(locks));
}

}  // namespace offwait
