// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "event/recording.h"
#include "model/trace.h"

namespace offwait {

/// Names the frame `index` of a stack (leaf first); called for all its frames in order. An empty name leaves
/// the frame out (the recorder's own frames, what is no return address).
using FrameNamer = std::function<std::string(const offwait_stack& stack, std::size_t index)>;

/// Turns what the kernel recorded into a Trace that satisfies validate(): decides which life of a tid a
/// record belongs to, classifies waits, clips to the window, closes what is still open, joins kernel and user
/// stacks, of which one that was cut ends in a pseudo-frame that says why (model/stack_cut.h). A record that
/// contradicts the others is left out and counted (record_invalid); a waker that is not recorded or was
/// itself blocked when it is said to have woken somebody becomes unknown and is counted (waker_unknown,
/// waker_impossible). Trace::recording and Trace::capacities are left empty.
Trace assemble(const KernelRecording& recording, const FrameNamer& name_frame);

}  // namespace offwait
