// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of the replay in terms of the findings' actors.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

struct FoundAnswers {
  std::vector<FoundProgress> progress;  ///< as Findings::progress
  std::vector<FoundAnswer> answers;     ///< as Findings::answers
  std::vector<FoundWhatIf> what_ifs;    ///< as Findings::what_ifs
};

/// Kinds of progress that no answer refers to are left out, except the first. A group of threads that the
/// findings show as several actors is represented by the actor with most of its threads. All are empty
/// without AnalysisOptions::answers. `what_ifs` are those of the options that prepare() had; `runtimes`
/// are runtimes_of() the trace.
FoundAnswers find_answers(const Prepared& prepared, const WaitGraph& graph,
                          const std::vector<FoundKnot>& knots, const std::vector<WhatIf>& what_ifs,
                          const std::vector<Runtime>& runtimes);

/// As Findings::runtimes.
std::vector<FoundRuntime> find_runtimes(const Trace& trace, const std::vector<Runtime>& runtimes);

}  // namespace offwait
