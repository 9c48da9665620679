// SPDX-License-Identifier: GPL-2.0-or-later
// Sections of the text report about threads and their stacks as a whole.
#pragma once

#include "report/text_page.h"

namespace offwait {

/// How long signals, debuggers and frozen cgroups kept threads from running, unless the verdict says it.
void put_stopped(const TextPage& page);
/// Threads that were ready to run without a CPU.
void put_runnable(const TextPage& page);

void put_false_wakeups(const TextPage& page);

/// Threads that never woke in the window.
void put_blocked_throughout(const TextPage& page);

/// How many user stacks do not reach the program's own frames, and why.
void put_stack_ends(const TextPage& page);
void put_cost(const TextPage& page);

}  // namespace offwait
