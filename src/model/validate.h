// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Checks what the analysis relies on: ids are in range and of the right kind (a site's thread is a thread);
/// 0 <= window.begin <= window.end < kNever; block <= wake <= run; an open wait has no waker; the intervals
/// of a thread (waits, preemptions, gaps) are in order, disjoint and inside its lifetime; capacities of disks
/// are finite and above 0; there are fewer than 2^32 entries of each kind. The error names the thread (tid)
/// and the times.
Status validate(const Trace& trace);

/// Fails if the window has no length: there is nothing to analyse.
Status check_window(const Trace& trace);

}  // namespace offwait
