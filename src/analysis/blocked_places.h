// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that were blocked at the window's end, added up by where they wait.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// Threads of one actor that were blocked throughout in the same stack, class and mutex holder.
struct BlockedPlace {
  std::size_t open_wait = 0;  ///< the longest of them: index into Findings::open_waits
  std::size_t threads = 0;
};

struct BlockedThreads {
  std::vector<BlockedPlace> throughout;  ///< threads of the target; deadlocks first, then longest first
  std::size_t outside = 0;               ///< threads outside of the target that were blocked throughout
  std::size_t later = 0;                 ///< threads that blocked within the window
  double longest_later_s = 0;            ///< the longest wait of these
};

BlockedThreads blocked_threads(const Findings& findings);

}  // namespace offwait
