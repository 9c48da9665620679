// SPDX-License-Identifier: GPL-2.0-or-later
// A part of the target, chosen by name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Patterns of a shell (fnmatch(3)). A thread is chosen if its process's name matches one of `comms` and its
/// own one of `threads`; a list without patterns matches all.
struct ThreadFilter {
  std::vector<std::string> comms;
  std::vector<std::string> threads;
  bool empty() const { return comms.empty() && threads.empty(); }
};

/// Fails when a pattern matches no thread of the target, with the names that there are.
Status check_filter(const std::vector<Actor>& actors, const ThreadFilter& filter);

/// The trace with the chosen threads alone as its target: the target's others are outside ones. Nothing else
/// is changed. A process is called as its main thread is or, where that was not recorded, as the oldest of
/// its threads; all names are the last that the threads had. Fails as check_filter() does.
Result<Trace> with_target(Trace trace, const ThreadFilter& filter);

}  // namespace offwait
