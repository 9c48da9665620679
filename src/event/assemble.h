// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "event/recording.h"
#include "model/trace.h"

namespace offwait {

/// The frames of a stack, leaf first: several for an address where functions are inlined, none for an address
/// that should be left out (the recorder's own frames, what is no return address).
using StackNamer = std::function<std::vector<Frame>(const offwait_stack& stack)>;

/// Calls `visit` for every stack that assemble() may have named.
void for_each_stack(const KernelRecording& recording, const std::function<void(const offwait_stack&)>& visit);

/// Turns what the kernel recorded into a Trace that satisfies validate(): decides which life of a tid a
/// record belongs to, classifies waits, clips to the window, closes what is still open, joins kernel and user
/// stacks and notes where one was cut (model/stack_cut.h). A record that
/// contradicts the others is left out and counted (record_invalid); a waker that is not recorded or was
/// itself blocked when it is said to have woken somebody becomes unknown and is counted (waker_unknown,
/// waker_impossible). Trace::recording and Trace::capacities are left empty.
Trace assemble(const KernelRecording& recording, const StackNamer& name_stack);

}  // namespace offwait
