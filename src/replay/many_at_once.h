// SPDX-License-Identifier: GPL-2.0-or-later
// Threads with several requests to a service under way.
#pragma once

#include "model/trace.h"
#include "progress/progress.h"
#include "replay/gain.h"
#include "replay/part_use.h"

namespace offwait {

/// A thread that waits for many connections at once goes on with whichever is first. The replay keeps the
/// recorded order, and so understates what a faster service gains for a thread with several requests under
/// way. The requests of the clients bound it: of the N that were under way, Q were at the service, on
/// average, and the threads that ask the service cannot run for more than all of the time. `use` is the
/// service's, `factor` the change of its time; `is_here` if it is on this host.
void allow_for_many_at_once(const Trace& trace, const Progress& progress, const PartUse& use, bool is_here,
                            double factor, Gain& gain);

}  // namespace offwait
