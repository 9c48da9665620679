// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

#include "event/named_stacks.h"
#include "event/recording.h"
#include "event/relays.h"
#include "model/trace.h"

namespace offwait {

/// Turns what the kernel recorded into a Trace that satisfies validate(): decides which life of a tid a
/// record belongs to, classifies waits, clips to the window, closes what is still open, joins kernel and user
/// stacks and notes where one was cut (model/stack_cut.h). Stacks come from `stacks` alone, not from
/// KernelRecording::stacks; one that is not there has no frames. A record that contradicts the others is left
/// out and counted (record_invalid); a waker that is not recorded or was itself blocked when it is said to
/// have woken somebody becomes unknown and is counted (waker_unknown, waker_impossible). Trace::recording and
/// Trace::capacities are left empty. If there are more threads than `most_single`, those that are short-lived
/// and follow each other are relays (relays.h).
Trace assemble(const KernelRecording& recording, const NamedStacks& stacks,
               std::size_t most_single = kMostSingleThreads);
/// The same, and frees the records while waits are made of them.
Trace assemble(KernelRecording&& recording, const NamedStacks& stacks);

}  // namespace offwait
