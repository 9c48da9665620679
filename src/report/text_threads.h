// SPDX-License-Identifier: GPL-2.0-or-later
// Sections of the text report about threads as a whole.
#pragma once

#include "report/text_page.h"

namespace offwait {

/// How long signals, debuggers and frozen cgroups kept threads from running.
void put_stopped(const TextPage& page);
/// Threads that were ready to run without a CPU.
void put_runnable(const TextPage& page);

void put_false_wakeups(const TextPage& page);

/// Threads that never woke in the window.
void put_blocked_throughout(const TextPage& page);

}  // namespace offwait
