// SPDX-License-Identifier: GPL-2.0-or-later
// False wakeups (wPerf §4.1): a thread is woken, finds that what it waits for has not come, and waits again.
// Whoever woke it ended nothing. They are found by what the thread did, without its help.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// The thread goes on running for no longer than this: the way out of one system call and into the next with
/// a lock and a test between them takes 2 to 30 µs, by how cold the caches are; work is seldom that short.
inline constexpr Nanos kLongestFalseRun = 50'000;
/// What lies between the two waits is at most this part of them: a thread that is busy with many short jobs
/// is never shown as waiting, whatever it does not do in them.
inline constexpr Nanos kWaitsPerFalseRun = 4;
/// Waits for the lock that guards the condition.
inline constexpr std::uint32_t kMostLockWaits = 4;

/// One false wakeup: `first` and `again` are the waits of one thread on the same futex around it. Indices
/// into Trace::waits.
struct FalseWakeup {
  std::uint32_t first = 0;
  std::uint32_t again = 0;
  Nanos ran = 0;  ///< running between the two
  friend bool operator==(const FalseWakeup&, const FalseWakeup&) = default;
};

/// A wakeup is false when a thread did it, and the woken thread
/// - ran no longer than kLongestFalseRun and then waited again on the same futex with the same stack, maybe
///   after waits for other futexes (the lock that guards the condition, contended by all that were woken);
/// - all that between the two waits took at most 1/kWaitsPerFalseRun of the two together;
/// - issued no request to a disk in between and woke nobody, but threads from waits that end in a false
/// wakeup
///   or are such a wait for the lock (it hands the lock on to the next one that finds nothing);
/// - and none of its records was lost in between.
/// One that the program declared false (Trace::false_marks) is false whatever the two waits around the mark
/// are and whatever lies between them, as long as it woke nobody. In order of thread, then time. The trace
/// must satisfy validate().
std::vector<FalseWakeup> find_false_wakeups(const Trace& trace);

/// The trace without them: the two waits become one, from the first block to the last wake, ended by what
/// ended the last one. What lies between becomes part of the wait, running time as well: the paper's analyzer
/// takes the pair of wakeup and wait away, and the thread has done nothing that brought anybody further; were
/// it counted as running, a waiter that is woken in vain all the time would look busy. The four states still
/// add up to the lifetime. Sites, actors and the rest keep their numbers; `false_wakeups` as found in this
/// trace. What satisfies validate() and can be swept still does and can.
Trace without_false_wakeups(const Trace& trace, const std::vector<FalseWakeup>& false_wakeups);

}  // namespace offwait
