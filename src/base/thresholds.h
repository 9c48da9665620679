// SPDX-License-Identifier: GPL-2.0-or-later
// How much of the window something must fill so that offwait says that it happens all the time. There are
// three such thresholds, because they stand for different things.
#pragma once

namespace offwait {

/// Running: a thread that has a CPU for this part of the window (or a device that is busy for it) cannot gain
/// more than the rest from shorter waits, so its own waits are set aside (KnotVertex::always_running). Time
/// in which the thread is runnable does not count, because other threads cause it.
inline constexpr double kAlwaysRunning = 0.9;

/// Running or runnable: a thread that has a CPU or asks for one for this part of the window is merged with
/// threads of the same kind only (graph/merge.h).
inline constexpr double kAlwaysReady = 0.9;

/// Busy: a sink limits when its busy time is this part of the window; a knot limits when the busy time of all
/// its threads together is (KnotVertex::busy_ns and cpu_ns, KnotOptions::always_busy). The report calls this
/// "saturated".
inline constexpr double kAlwaysBusy = 0.9;

}  // namespace offwait
