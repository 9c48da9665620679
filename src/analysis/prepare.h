// SPDX-License-Identifier: GPL-2.0-or-later
// The first step: a trace without false wakeups, with its sums.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/lock_names.h"
#include "analysis/options.h"
#include "analysis/views.h"
#include "base/nanos.h"
#include "base/result.h"
#include "graph/short_lived.h"
#include "graph/sweep.h"
#include "model/trace.h"
#include "progress/thread_groups.h"
#include "replay/answers.h"

namespace offwait {

/// The false wakeups that were found, whether they were removed or not.
struct FalseWakeupSums {
  std::map<std::pair<ActorId, ActorId>, std::uint64_t> counts;  ///< by (woken, waker)
  Nanos ran_ns = 0;  ///< running time between the two waits around each
};

struct Prepared {
  TraceWithStandIns trace;
  Sweep sweep;  ///< sums over trace.all()
  FalseWakeupSums false_wakeups;
  ThreadGroups groups;  ///< that the answers speak of; empty without AnalysisOptions::answers, like these
  Answers answers;
  std::vector<bool> below_devices;  ///< by ActorId: in a group of below_devices() (progress/wait_kinds.h)
  LockNames lock_names;
  Views views;  ///< empty without AnalysisOptions::views
};

/// Replays a trace that satisfies validate() and ranks its code as it was recorded (a false wakeup took CPU
/// time and let somebody go on), removes false wakeups (unless the options keep them), adds stand-ins for
/// short-lived threads (if the options merge) and sweeps. The trace is moved along, not copied. Fails with
/// the errors of scenario_of() and sweep(), and for a window without length.
Result<Prepared> prepare(Trace trace, const AnalysisOptions& options);

}  // namespace offwait
