// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Checks what the analysis takes for granted: ids in range, sites' threads are threads, begin <= end,
/// block <= wake <= run, the intervals of a thread in order and disjoint and inside its lifetime.
/// The error names the thread (tid) and the times.
Status validate(const Trace& trace);

}  // namespace offwait
