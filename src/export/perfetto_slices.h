// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "export/perfetto_packets.h"
#include "model/trace.h"

namespace offwait::perfetto {

/// Tracks of all actors, and on them: waits and lost records as slices, wakeups as instants, with flows from
/// who woke to who was woken. Thread by thread, each thread's in order of time.
void write_slices(const Trace& trace, Sequence& sequence);

}  // namespace offwait::perfetto
