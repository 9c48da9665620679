// SPDX-License-Identifier: GPL-2.0-or-later
// The whole analysis as one pure function: a trace in, findings out.
#pragma once

#include "analysis/findings.h"
#include "analysis/options.h"
#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// The trace must satisfy validate(). It is taken by value because it is changed on the way (prepare.h): move
/// it in. Fails with the errors of prepare(). A trace without any wait gives findings that say so.
Result<Findings> analyse(Trace trace, const AnalysisOptions& options);

}  // namespace offwait
