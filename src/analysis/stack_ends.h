// SPDX-License-Identifier: GPL-2.0-or-later
// How much of the waiting has a user stack that reaches the outermost frame.
#pragma once

#include <cstddef>

#include "analysis/findings.h"
#include "graph/sweep.h"
#include "model/trace.h"

namespace offwait {

/// Of the waits of the target's threads, those with an id below `actors` (stand-ins of short-lived threads
/// come last). A stack without a cut is complete if it has user frames: all but those that the symbolizer
/// marks as the kernel's (`f+0x1 ([kernel])`, `([ext4])`, `[kernel+0xADDR]`) or that stand before `--`.
ReportStackEnds stack_ends(const Trace& trace, const Sweep& sweep, std::size_t actors);

}  // namespace offwait
