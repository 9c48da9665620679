// SPDX-License-Identifier: GPL-2.0-or-later
// The whole analysis as one pure function: a trace in, a report out.
#pragma once

#include <optional>

#include "analysis/findings.h"
#include "base/nanos.h"
#include "base/result.h"
#include "model/thread_filter.h"
#include "model/trace.h"

namespace offwait {

struct AnalysisOptions {
  double min_weight = 0.20;            ///< --min-weight as a part of the window, ≥ 0
  std::optional<Nanos> min_weight_ns;  ///< --min-weight as a duration: counts instead, when given
  double noise = 0.01;                 ///< --noise: part of the window, ≥ 0
  bool merge = true;                   ///< similar threads become one actor
  bool keep_false_wakeups = false;     ///< the waits around a false wakeup stay two
  ThreadFilter filter{};               ///< what the trace was made with_target() of: said in the report
};

/// The trace is taken by value because stand-ins for short-lived threads are added to it: move it in. Fails
/// with the errors of validate() and sweep(), and for a window without length. A trace without any wait gives
/// a report that says so.
Result<Report> analyse(Trace trace, const AnalysisOptions& options);

}  // namespace offwait
