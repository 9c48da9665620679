// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "code/roles.h"
#include "report/frame.h"
#include "report/quantity.h"
#include "report/views.h"
#include "report/wording_answers.h"
#include "report/wording_views.h"

namespace offwait {

namespace {

constexpr int kPercentCell = 5;
constexpr int kCritical = 6;
constexpr int kGain = 9;
/// The width of the columns behind the name: five for `self`, five for `with callees`, and two others.
constexpr int kWide = 10 * kPercentCell + 2 + kCritical + kGain;
/// Where there is less room, one column stands for all of `with callees`.
constexpr int kNarrow = 6 * kPercentCell + 2 + kCritical + kGain;
constexpr int kShortestName = 28;
constexpr int kCallerColumns = 40;
constexpr double kMostlyFrom = 0.5;

/// Gains are told only where answers are told.
bool can_tell(const TextPage& page) { return short_evidence(page.findings) == ShortEvidence::none; }

bool is_wide(const TextPage& page) { return page.canvas.width() >= kWide + kShortestName; }
int function_columns(const TextPage& page) { return page.canvas.width() - (is_wide(page) ? kWide : kNarrow); }

/// Where there is no room for the whole name, its end says more than the namespaces before it.
std::string name_of(const TextPage& page, const Frame& function, int columns) {
  return page.canvas.fit(
      fitting_frame(function, columns, [&page](std::string_view text) { return page.canvas.columns(text); }),
      columns);
}

void put_cells(const TextPage& page, const std::vector<std::string>& cells) {
  for (const std::string& text : cells) page.canvas.put_right(text, kPercentCell);
}

void put_function_titles(const TextPage& page) {
  Canvas& canvas = page.canvas;
  const bool wide = is_wide(page);
  canvas.to(function_columns(page)).put_right("self", 5 * kPercentCell, Ink::dim);
  if (wide) canvas.put_right("with callees", 5 * kPercentCell + 1, Ink::dim);
  canvas.end();
  canvas.put("function").to(function_columns(page));
  put_cells(page, {"cpu", "io", "lock", "run", "oth"});
  canvas.put(" ");
  put_cells(page, wide ? std::vector<std::string>{"cpu", "io", "lock", "run", "oth"}
                       : std::vector<std::string>{"all"});
  canvas.put_right("crit", kCritical).put_right("gain", kGain).end();
}

std::vector<std::string> cells_of(const CodeTime& time, double whole_s) {
  return {cell(time.cpu_s, whole_s), cell(time.io_s, whole_s), cell(time.lock_s, whole_s),
          cell(time.runnable_s, whole_s), cell(time.other_s, whole_s)};
}

void put_row(const TextPage& page, const FoundFunction& row) {
  Canvas& canvas = page.canvas;
  const FoundFunctions& all = page.findings.views.functions;
  const double whole_s = all.counted.total_s();
  canvas.put(name_of(page, row.function, function_columns(page) - 1), Ink::actor).to(function_columns(page));
  put_cells(page, cells_of(row.self, whole_s));
  canvas.put(" ");
  if (is_wide(page)) {
    put_cells(page, cells_of(row.all, whole_s));
  } else {
    put_cells(page, {cell(row.all.total_s(), whole_s)});
  }
  canvas.put_right(cell(row.critical_s, page.findings.views.threads.critical_s), kCritical);
  canvas.put_right(row.gain && can_tell(page) ? gain_cell(*row.gain) : "", kGain).end();
  std::vector<std::string> more;
  if (!row.file.empty() && !in_library(row.function)) more.push_back(place_text(row));
  if (row.caller_share >= kMostlyFrom) {
    std::vector<std::string> callers;
    for (const Frame& caller : row.callers) callers.push_back(name_of(page, caller, kCallerColumns));
    more.push_back(callers_text(row, callers));
  }
  if (const std::string gains = parts_text(row); !gains.empty() && can_tell(page)) more.push_back(gains);
  if (!more.empty()) {
    canvas.to(4).flow(words(fmt::format("{}", fmt::join(more, "; ")), Ink::dim), 4);
  }
}

}  // namespace

void put_functions(const TextPage& page) {
  const FoundFunctions& all = page.findings.views.functions;
  put_paragraph(page.canvas, "FUNCTIONS", functions_meaning(all));
  page.canvas.to(2).flow(words(columns_meaning(page.findings), Ink::dim), 2);
  page.canvas.gap();
  put_function_titles(page);
  const std::size_t shown = page.limit(kViewRows, all.rows.size());
  for (std::size_t i = 0; i < shown; ++i) put_row(page, all.rows[i]);
  put_more_rows(page, all.rows.size() - shown);
  if (const std::string why = too_short_text(page.findings, page.names); !why.empty()) {
    page.canvas.gap();
    page.canvas.flow(words(why), 2);
  }
  if (const std::string rest = time_apart_text(page.findings); !rest.empty()) {
    page.canvas.gap();
    page.canvas.flow(words(rest), 2);
  }
}

}  // namespace offwait
