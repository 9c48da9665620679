// SPDX-License-Identifier: GPL-2.0-or-later
// The user's choices about the analysis, applied to a recording.
#pragma once

#include <string>
#include <vector>

#include "analysis/options.h"
#include "base/result.h"
#include "cli/options.h"
#include "model/trace.h"

namespace offwait::cli {

/// With thresholds as parts of this window.
offwait::AnalysisOptions analysis_options(const AnalysisOptions& options, const Window& window);

/// Whether the recording has the progress that the user has chosen.
Status check_progress(const Trace& trace, const ProgressOptions& progress);

/// The recording with the target and the capacities that the user has chosen. Adds to the notes what had no
/// effect.
Result<Trace> with_choices(Trace recorded, const AnalysisOptions& options, std::vector<std::string>& notes);

/// Whether no thread of the target lived in the window, so that there is nothing to say of it.
bool has_no_thread(const Trace& trace);

}  // namespace offwait::cli
