// SPDX-License-Identifier: GPL-2.0-or-later
// Waits summed up for the tables of functions and threads, and who counts there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/views.h"
#include "base/nanos.h"
#include "model/trace.h"
#include "progress/facts.h"

namespace offwait {

/// Sums over the waits of one site, clipped to the window.
struct WaitSum {
  Nanos wait_ns = 0;
  Nanos runnable_ns = 0;    ///< between wake and run
  std::uint64_t ended = 0;  ///< in the window
};

/// What the tables of functions, threads and locks have in common.
struct CodeUses {
  std::vector<WaitSum> waits;  ///< by SiteId
  /// By SiteId: a thread of the target waits for a request from outside of the target there, so it is idle.
  std::vector<bool> requests;
  /// By GroupId: the groups of the target that make the first progress, and those that they wait for,
  /// directly or through others, for 1 % of the window or more. All groups of the target if there is no
  /// progress.
  std::vector<bool> counts;
};
CodeUses code_uses_of(const Trace& trace, const Facts& facts);

/// Adds a wait of this class.
void add_wait(CodeTime& time, WaitClass wait_class, const WaitSum& sum);
void add(CodeTime& sum, const CodeTime& more, double factor = 1);

}  // namespace offwait
