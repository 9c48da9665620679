// SPDX-License-Identifier: GPL-2.0-or-later
// Names the locks of a trace by the variables in which they lie.
#pragma once

#include "model/trace.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// Gives futexes and locks of the kernel their symbols. A futex in a mapping that processes share is
/// identified by its place in the mapped file from then on, so that what two processes wait for is one
/// object. The symbolizer must have the mappings of the trace's processes.
void name_objects(Trace& trace, Symbolizer& symbols);

}  // namespace offwait
