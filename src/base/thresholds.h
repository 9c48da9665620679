// SPDX-License-Identifier: GPL-2.0-or-later
// From which part of the window on something is said to happen all the time. There are three such rules, and
// they ask for different things.
#pragma once

namespace offwait {

/// Running: a thread that has a CPU for this part of the window (or a device that is busy for it) cannot gain
/// more than the rest from shorter waits: its own waits are set aside (KnotVertex::always_running). Time
/// without a CPU does not count, because it is not the thread's own.
inline constexpr double kAlwaysRunning = 0.9;

/// Running or runnable: a thread that has a CPU or asks for one for this part of the window is merged with
/// threads of the same kind only (graph/merge.h).
inline constexpr double kAlwaysReady = 0.9;

/// Busy: a sink limits when its busy time is this part of the window, a knot when that of its threads
/// together is (KnotVertex::busy_ns and cpu_ns, KnotOptions::always_busy). This is what the report calls
/// "saturated".
inline constexpr double kAlwaysBusy = 0.9;

}  // namespace offwait
