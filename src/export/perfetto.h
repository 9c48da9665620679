// SPDX-License-Identifier: GPL-2.0-or-later
// A trace for https://ui.perfetto.dev and its trace processor.
#pragma once

#include "export/formats.h"
#include "model/trace.h"

namespace offwait {

/// Writes TracePackets (Perfetto's protos/perfetto/trace/trace_packet.proto). Times are CLOCK_MONOTONIC of
/// the recorded host.
/// - The scheduler's events (export/sched_events.h) as ftrace has them. A wakeup by a device, a timer or an
///   interrupt, or by somebody unknown, has flags that say it was made in an interrupt, so that no thread
///   counts as the waker. The kernel function in which a wait blocked is its blocked reason.
/// - Waits as slices on the tracks of their threads, as they were recorded, with stack, lock or file, holder
///   and peer; and flows from the waker to the thread that it woke. Devices and timers have tracks of their
///   own.
/// - A sample for each wait of the target, at its end, with the time waited and the weight as counters. The
///   weight of a site is shared out among its waits by their length. CPU samples are samples of their own.
/// - `unknown` time, for which records were lost, is state P (parked) and a slice that says so.
///
/// The trace must satisfy validate(). Fails with the errors of sweep(), and with that of the sink.
Status write_perfetto(const Trace& trace, const ByteSink& sink);

}  // namespace offwait
