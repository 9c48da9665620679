// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that come and go, one after the other (wPerf §3.3 "Short-term threads", doc/design.md "Graph"): a
// server that starts a thread for each connection, a program that forks a child for each task. None of them
// is a worker, whose throughput would grow with the program's; together they are one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// Threads that become one virtual thread.
struct ShortLived {
  std::vector<ActorId> members;  ///< two or more, in order of id
  /// The last actors of the trace are stand-ins, one per virtual thread: it waits while no member lives, for
  /// the creator of the next one.
  ActorId stand_in = kNoActor;
  Nanos alive_ns = 0;  ///< at least one member lives
  Nanos busy_ns = 0;   ///< at least one member is running or runnable
};

struct ShortLivedThreads {
  std::vector<ShortLived> groups;  ///< in order of their stand-ins
  // What was there before the stand-ins were added.
  std::size_t actors = 0;
  std::size_t waits = 0;
};

/// Finds the threads that are short-lived and adds a stand-in and its waits to the trace for each group of
/// them. These are born and dead inside the window and live for at most half of it; have one process, or were
/// forked by one as processes of their own; are all `outside` or none; have names that differ at most in
/// digits; and follow each other: there are twice as many of them as ever lived at once (a pool that is
/// started and stopped inside the window is none). Threads without a name or whose process is not known are
/// left alone.
///
/// The stand-in's waits are of class `other`, in a stack of one frame, `[no thread of it alive]`. They have a
/// waker if the creator of the thread that ends them is known and was not blocked then.
///
/// The trace must satisfy validate(); sweep() takes it afterwards, validate() need not.
ShortLivedThreads stand_in_for_short_lived(Trace& trace);

/// A name with each run of digits as one `0`: equal for names that differ at most in digits.
std::string name_pattern(std::string_view name);

}  // namespace offwait
