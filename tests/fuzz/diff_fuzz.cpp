// SPDX-License-Identifier: GPL-2.0-or-later
// Any two traces that can be read can be compared: with finite amounts, in texts without control characters.
// A trace does not differ from itself. An input is one trace, or two with a line `====` between them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "diff/compare.h"
#include "report/diff.h"
#include "trace/text.h"

namespace {

using offwait::ComparedAmount;

void must(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "diff_fuzz: " << what << "\n";
  std::abort();
}

std::optional<offwait::RecordingToCompare> recording(std::string_view text) {
  const offwait::Result<offwait::Trace> trace = offwait::parse_text(text, "f");
  if (!trace.ok() || trace->window.length() <= 0) return std::nullopt;
  offwait::AnalysisOptions options;
  options.answers = false;
  offwait::Result<offwait::Findings> findings = offwait::analyse(*trace, options);
  if (!findings.ok()) return std::nullopt;
  offwait::Result<offwait::Profile> profile = offwait::profile_of(*trace, {});
  if (!profile.ok()) return std::nullopt;
  return offwait::RecordingToCompare{"f", std::move(findings).value(), std::move(profile).value()};
}

void check(const ComparedAmount& amount, bool same) {
  must(std::isfinite(amount.before) && amount.before >= 0, "an amount before that is none");
  must(std::isfinite(amount.after) && amount.after >= 0, "an amount after that is none");
  must(std::isfinite(amount.spread) && amount.spread >= 0, "a spread that is none");
  must(!same || amount.change == ComparedAmount::Change::none, "a trace that differs from itself");
}

void compare_both(const offwait::RecordingToCompare& before, const offwait::RecordingToCompare& after,
                  bool same) {
  const offwait::Comparison found = offwait::compare({before}, {after}, 0.01);
  for (const offwait::ComparedTime& row : found.times) check(row.time, same);
  for (const offwait::ComparedEdge& row : found.edges) {
    check(row.weight, same);
    check(row.waits, same);
  }
  for (const offwait::ComparedLock& row : found.locks) {
    check(row.wait, same);
    check(row.waits, same);
  }
  for (const offwait::ComparedFunction& row : found.functions) check(row.time, same);
  for (const offwait::ComparedKnot& row : found.knots) check(row.weight, same);
  offwait::TextStyle style;
  style.verbosity = 1;
  style.charset = offwait::Charset::ascii;
  const std::string text = offwait::to_text(found, style);
  must(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }),
       "a character that is not to be printed");
  must(!offwait::to_json(found).empty(), "no JSON");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kBetween = "\n====\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  const std::size_t between = text.find(kBetween);
  const auto before = recording(text.substr(0, between == std::string_view::npos ? between : between + 1));
  if (!before) return 0;
  compare_both(*before, *before, true);
  if (between == std::string_view::npos) return 0;
  if (const auto after = recording(text.substr(between + kBetween.size())))
    compare_both(*before, *after, false);
  return 0;
}
