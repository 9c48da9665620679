// SPDX-License-Identifier: GPL-2.0-or-later
// From waits to weights: one pass over time that gives every wait site its weight after cascaded
// redistribution (wPerf, OSDI '18, Figure 4; doc/method.md "From waits to weights"), every thread its four
// states, and every site what its waker was doing meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Sums over the waits of one site, each wait clipped to the window (and to its thread's exit). A wait wholly
/// outside is not counted; an empty one (block == wake) inside is, and weighs nothing. The second half of a
/// wait for a packet (WaitSite::in_flight) has a time and a weight, but is not counted.
struct SiteSum {
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  /// Local impact: at any instant the wait grows by 1 + the number of threads that wait for its thread,
  /// directly or not; that of a kernel thread by the latter only. Equal to the literal recursion of Figure 4,
  /// begun at every wait but those of kernel threads, to the nanosecond. A kworker or jbd2 waits for work
  /// most of the time, for whoever sends it some. Begun at such waits, the cascade led from the target
  /// through a kworker to another program's knot (RocksDB on a loop device).
  Nanos weight_ns = 0;
  // What the waker was doing during the waits (unweighted). For a thread as waker the four add up to
  // wait_ns; for any other waker all are 0. Before its birth and after its exit it is `unknown`.
  Nanos waker_running_ns = 0;
  Nanos waker_runnable_ns = 0;
  Nanos waker_blocked_ns = 0;
  Nanos waker_unknown_ns = 0;
  Nanos waker_disk_ns = 0;    ///< part of waker_blocked_ns: in waits of class disk
  Nanos waker_asleep_ns = 0;  ///< part of waker_blocked_ns: in waits of class sleep
  /// Runnable time inside the window after the waits: until they cost the thread nothing more.
  Nanos resume_ns = 0;
  // Releases: wakings of several threads by one, each at most kOneRelease after the one before it. Who leaves
  // a barrier last, or commits for a group, lets all go at once; a lock is handed over one by one.
  Nanos together_ns = 0;              ///< part of wait_ns: of waits that ended together with others
  Nanos together_disk_ns = 0;         ///< part of waker_disk_ns: during these waits
  std::uint64_t together_waits = 0;   ///< how many these are (empty ones are not counted)
  std::uint64_t releases = 0;         ///< in how many releases; each is counted by the first of its waits
  std::uint64_t largest_release = 0;  ///< most threads that one of these let go; 0: none
};
inline constexpr Nanos kOneRelease = 20'000;

void add(SiteSum& sum, const SiteSum& site);

/// How a thread spent its lifetime inside the window; the four states add up to lifetime_ns exactly.
/// All zero for actors that are no threads. A record from before Actor::seen is believed: the thread is
/// `unknown` only up to the first one. Where no record says otherwise it is running.
struct ActorTime {
  Nanos running_ns = 0;
  Nanos runnable_ns = 0;
  Nanos blocked_ns = 0;
  Nanos unknown_ns = 0;
  Nanos lifetime_ns = 0;
  Nanos open_wait_ns = 0;  ///< part of blocked_ns: the wait that reaches past the window's end or never ended
};

void add(ActorTime& sum, const ActorTime& time);

struct Sweep {
  std::vector<SiteSum> sites;     ///< parallel to Trace::sites
  std::vector<ActorTime> actors;  ///< parallel to Trace::actors
};

/// O(events × (log threads + chain length)) time, 4 bytes per wait and preemption of memory beside the
/// trace. Fails, naming the wait, on a trace that cannot have happened: a thread that wakes another
/// while it is itself blocked, two threads that wait for each other at the same time. At one instant wakes
/// come before blocks. Fails too when the sum of all weights would not fit Nanos: no sum of weights
/// overflows. The trace must satisfy validate().
Result<Sweep> sweep(const Trace& trace);

}  // namespace offwait
