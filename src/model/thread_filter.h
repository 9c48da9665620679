// SPDX-License-Identifier: GPL-2.0-or-later
// Restricts the target to processes and threads with given names. The threads are chosen from the trace and
// not in the kernel, so that a dump holds everything.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Shell patterns (fnmatch(3)). A thread is chosen if its process's name matches one of `comms` and its own
/// name matches one of `threads`. An empty list matches every name.
struct ThreadFilter {
  std::vector<std::string> comms;
  std::vector<std::string> threads;
  bool empty() const { return comms.empty() && threads.empty(); }
};

/// Fails if a pattern matches no thread of the target; the error lists the names that there are.
Status check_filter(const std::vector<Actor>& actors, const ThreadFilter& filter);

/// Fails if one of these patterns of --progress matches the name of no thread, be it of the target or not.
/// The error lists the names that there are.
Status check_progress_threads(const std::vector<Actor>& actors, const std::vector<std::string>& patterns);

/// The trace with only the chosen threads as its target; the target's other threads become `outside`. A
/// process has the name of its main thread or, if that was not recorded, of its oldest thread. The last name
/// that a thread had counts. Fails as check_filter() does.
Result<Trace> with_target(Trace trace, const ThreadFilter& filter);

}  // namespace offwait
