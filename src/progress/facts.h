// SPDX-License-Identifier: GPL-2.0-or-later
// What the threads of a trace are, what they wait for, and what they work for.
#pragma once

#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/progress.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// Made once for a trace. Each of these looks at every wait.
struct Facts {
  ThreadGroups groups;
  WaitKinds kinds;
  Uses uses;
  std::vector<Progress> progress;  ///< progress_of(): empty where nothing is known to count
};

/// The trace must satisfy validate(). `groups` are group_threads() of it, or of a longer part of the same
/// recording.
Facts facts_of(const Trace& trace, ThreadGroups groups, const ProgressOptions& options);

}  // namespace offwait
