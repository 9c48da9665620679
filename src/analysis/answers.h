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
};

/// Kinds of progress that no answer refers to are left out, but for the first. A group of threads that the
/// findings show as several actors is represented by the actor with most of its threads. Both are empty
/// without AnalysisOptions::answers.
FoundAnswers find_answers(const Prepared& prepared, const WaitGraph& graph,
                          const std::vector<FoundKnot>& knots);

}  // namespace offwait
