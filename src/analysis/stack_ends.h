// SPDX-License-Identifier: GPL-2.0-or-later
// How much of the waiting has a user stack that reaches the outermost frame.
#pragma once

#include "analysis/findings.h"
#include "analysis/prepare.h"

namespace offwait {

/// Sums over the waits of the target's threads. A stack without a cut is complete if it has user frames: all
/// but those that the symbolizer marks as the kernel's (`f+0x1 ([kernel])`, `([ext4])`, `[kernel+0xADDR]`) or
/// that stand before `--`.
StackEnds stack_ends(const Prepared& prepared);

}  // namespace offwait
