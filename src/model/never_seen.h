// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that the recorder found at the window's start, and never saw do anything.
#pragma once

#include "model/trace.h"

namespace offwait {

/// A thread that is runnable from the window's very begin to its end, and of which nothing else is known, was
/// only found in the kernel's list of threads. It may have been dead already, as a process is that its parent
/// has not reaped, so it is not called runnable: its state is unknown through the window (Actor::seen is the
/// window's end). A thread that was seen to lose its CPU lost it before the window, or later in it.
void forget_never_seen(Trace& trace);

}  // namespace offwait
