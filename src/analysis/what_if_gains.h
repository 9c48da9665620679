// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "analysis/options.h"
#include "model/trace.h"
#include "replay/gain.h"

namespace offwait {

/// The gains of AnalysisOptions::what_ifs alone, the same that Findings::what_ifs has. It is for questions
/// that arise from the findings. None for a question that does not fit the trace, which must satisfy
/// validate().
std::vector<std::optional<Gain>> what_if_gains(const Trace& trace, const AnalysisOptions& options);

}  // namespace offwait
