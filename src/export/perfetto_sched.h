// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "export/perfetto_packets.h"
#include "model/trace.h"

namespace offwait::perfetto {

/// The scheduler's events as bundles of ftrace events, each bundle in order of time.
void write_sched_events(const Trace& trace, Sequence& sequence);

}  // namespace offwait::perfetto
