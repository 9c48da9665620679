// SPDX-License-Identifier: GPL-2.0-or-later
// A report to look at: one file that a browser opens without a network and without anything beside it.
//
// Its head forbids all scripts and styles but its own, which are told by their hashes, and anything from
// elsewhere. What was recorded is in base64, in which nothing can be taken for a tag; the script puts it into
// the page as text only. Without a script, or without DecompressionStream, the text report is what is seen.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/findings.h"
#include "base/result.h"
#include "model/trace.h"
#include "progress/progress.h"

namespace offwait::html {

inline constexpr std::size_t kUsualBytes = 5'000'000;
inline constexpr std::size_t kFewestBytes = 500'000;

struct PageOptions {
  /// The page is no larger, unless what every page has (text, graph, the timeline from afar) is; single waits
  /// take what is left. At least kFewestBytes.
  std::size_t most_bytes = kUsualBytes;
  // As for the findings:
  bool keep_false_wakeups = false;
  ProgressOptions progress{};
};

/// The findings are of this trace, with AnalysisOptions::answers and AnalysisOptions::views. Equal reports
/// give equal bytes. Fails only if there is no memory.
Result<std::string> to_html(const Findings& findings, Trace trace, const PageOptions& options);

}  // namespace offwait::html
