// SPDX-License-Identifier: GPL-2.0-or-later
// False wakeups (wPerf §4.1): a thread is woken, finds that the condition it waits for does not hold, and
// waits again. Its waker did not end the wait. False wakeups are found from the thread's records, without
// help of the program.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// A thread that was woken falsely runs at most this long. To return from one system call, take a lock, test
/// a condition and enter the next call takes 2 to 30 µs, depending on the caches; work is seldom that short.
inline constexpr Nanos kLongestFalseRun = 50'000;
/// The time between the two waits is at most 1/kWaitsPerFalseRun of the two together. So a thread that is
/// busy with many short jobs is never shown as waiting instead.
inline constexpr Nanos kWaitsPerFalseRun = 4;
/// The most waits for the lock that guards the condition that may lie between the two waits.
inline constexpr std::uint32_t kMostLockWaits = 4;

/// One false wakeup. `first` and `again` are the waits of the thread around it, as indices into Trace::waits.
struct FalseWakeup {
  std::uint32_t first = 0;
  std::uint32_t again = 0;
  Nanos ran = 0;  ///< running time between the two
  friend bool operator==(const FalseWakeup&, const FalseWakeup&) = default;
};

/// Finds the false wakeups of a trace that satisfies validate(), in order of thread, then time. A wakeup by a
/// thread is false if
/// - the woken thread ran at most kLongestFalseRun and then waited again, for longer than no time, on the
///   same futex with the same stack. In between it may have waited for other futexes, such as the lock that
///   guards the condition, for which all woken threads contend;
/// - the time between the two waits was at most 1/kWaitsPerFalseRun of the two waits together;
/// - the thread issued no request to a disk and made no thread in between;
/// - the thread woke no other thread in between, except from waits that end in a false wakeup or that are
///   such a wait for the lock (it hands the lock to the next thread that finds nothing);
/// - none of the thread's records was lost in between.
/// A wakeup that the program declared false (Trace::false_marks) only has to satisfy the condition on waking
/// others; the two waits around the mark and the time between them do not matter.
std::vector<FalseWakeup> find_false_wakeups(const Trace& trace);

/// The trace without the false wakeups that find_false_wakeups() found in it. The two waits around each
/// become one, from the first block to the last wake, with the waker of the last one. The time between them
/// becomes part of the wait, running time included: the paper's analyzer also removes the pair of wakeup and
/// wait, the thread did no work, and a thread that is often woken in vain would otherwise look busy. The four
/// states still add up to the lifetime. Ids of sites, actors and the like do not change. The result satisfies
/// validate() and can be swept if the input does and can. Move the trace in to avoid a copy of its waits.
Trace without_false_wakeups(Trace trace, const std::vector<FalseWakeup>& false_wakeups);
/// The same of those that it has.
Trace without_false_wakeups(Trace trace);

}  // namespace offwait
