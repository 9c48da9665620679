// SPDX-License-Identifier: GPL-2.0-or-later
// The critical path of a command: what its end waited for, from the window's start on. It leads from the
// first process of the command to those that ended its waits, so that an answer names the compiler and not
// the `make` that waits for it.
#pragma once

#include "model/trace.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// What decides how well the path is known. It goes back from the exit of a thread: through its running
/// time and its waits for devices, timers and services; from a wait that a thread ended to that thread; and
/// from a thread's birth to the thread that created it.
struct PathToExit {
  Nanos length_ns = 0;    ///< from the window's start to the exit
  Nanos unknown_ns = 0;   ///< in waits of which it is not known what ended them
  Nanos guessed_ns = 0;   ///< in waits that count as lock waits though no function's name says so
  Nanos runnable_ns = 0;  ///< ready to run, without a CPU
};

/// `thread` exits in the window. O((waits + preemptions + threads) × log waits).
PathToExit path_to_exit(const Trace& trace, const WaitKinds& kinds, ActorId thread);

}  // namespace offwait
