// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Checks what the analysis takes for granted: ids in range and of the right kind (a site's thread is a
/// thread), 0 <= window.begin <= window.end < kNever, block <= wake <= run, no waker for an open wait, the
/// intervals of a thread (waits, preemptions, gaps) in order and disjoint and inside its lifetime, disk
/// capacities finite and above 0, fewer than 2^32 entries of a kind.
/// The error names the thread (tid) and the times.
Status validate(const Trace& trace);

}  // namespace offwait
