// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "event/named_stacks.h"
#include "event/recording.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// The frames of all stacks in a recording; `symbols` is asked for all addresses at once.
///
/// The recorder's own frames are left out: the walk of a kernel stack begins inside the BPF program. A stack
/// of busy waiting is the kernel's walk by frame pointers, which in code without them takes whatever lies on
/// the stack for return addresses; it ends at the first address that cannot be one.
NamedStacks name_stacks(const KernelRecording& recording, Symbolizer& symbols);

}  // namespace offwait
