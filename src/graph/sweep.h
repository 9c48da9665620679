// SPDX-License-Identifier: GPL-2.0-or-later
// From waits to weights. A pass over time computes the weight of each wait site after cascaded
// redistribution (wPerf, OSDI '18, Figure 4; doc/method.md "From waits to weights"), the four states of each
// thread, and for each site the states of its waker during the waits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// Sums over the waits of one site. Each wait is clipped to the window and to its thread's exit. A wait
/// wholly outside is not counted. An empty wait (block == wake) inside is counted and has weight 0. The
/// second part of a wait for a packet (WaitSite::in_flight) has a time and a weight, but is not counted.
struct SiteSum {
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  /// The paper's local impact. At any instant a wait's weight grows by 1 + the number of threads that wait
  /// for its thread, directly or through others; a kernel thread's wait grows by that number only. This
  /// equals the recursion of Figure 4, begun at every wait but those of kernel threads, to the nanosecond.
  /// Kernel threads are different because a kworker or jbd2 mostly waits for work, which any thread may send.
  /// Begun at such waits, the cascade led from the target through a kworker to another program's knot
  /// (RocksDB on a loop device).
  Nanos weight_ns = 0;
  // The states of the waker during the waits (unweighted). If the waker is a thread the four add up to
  // wait_ns; else all are 0. Before its birth and after its exit a thread is `unknown`.
  Nanos waker_running_ns = 0;
  Nanos waker_runnable_ns = 0;
  Nanos waker_blocked_ns = 0;
  Nanos waker_unknown_ns = 0;
  Nanos waker_disk_ns = 0;    ///< part of waker_blocked_ns that is in waits of class disk
  Nanos waker_asleep_ns = 0;  ///< part of waker_blocked_ns that is in waits of class sleep
  /// Runnable time inside the window that directly follows the waits.
  Nanos resume_ns = 0;
  // A release is the waking of several threads by one, each at most kOneRelease after the one before. The
  // last thread at a barrier, or a thread that commits for a group, releases all others at once; a lock is
  // handed over one by one.
  Nanos together_ns = 0;             ///< part of wait_ns that is in waits ended by releases
  Nanos together_disk_ns = 0;        ///< part of waker_disk_ns that is during these waits
  std::uint64_t together_waits = 0;  ///< number of these waits, without empty ones
  /// Each of these waits counts 1 ÷ the number of threads that its release woke, rounded up to a multiple of
  /// 2^-32. Over all sites that is the number of releases, and together_waits ÷ releases is between 2 and
  /// largest_release for any sites.
  double releases = 0;
  std::uint64_t largest_release = 0;  ///< most threads woken by one of these releases; 0: none
  // Waits of the target's threads for each other around a disk: those that a thread ended, of another class
  // than disk, and not by kernel threads, which wait for work. The waker keeps the thread waiting from when
  // another thread last ended such a wait of its own, or from the wait's start if that is later.
  Nanos kept_ns = 0;       ///< part of wait_ns for which the waker kept the threads waiting
  Nanos kept_disk_ns = 0;  ///< part of kept_ns in which the waker waited for a disk
  /// Part of wait_ns that is in such waits with a kept_disk_ns, if the thread waited for a disk or in such a
  /// wait once more.
  Nanos behind_disk_ns = 0;
  Nanos then_disk_ns = 0;  ///< part of behind_disk_ns after which the thread waited for a disk first

  friend bool operator==(const SiteSum&, const SiteSum&) = default;
};
inline constexpr Nanos kOneRelease = 20'000;

void add(SiteSum& sum, const SiteSum& site);

/// The states of a thread in its lifetime inside the window; the four add up to lifetime_ns exactly. All are
/// 0 for actors that are no threads. A thread is `unknown` before Actor::seen, or before its first record if
/// that is earlier. After that it is running where no record says otherwise.
struct ActorTime {
  Nanos running_ns = 0;
  Nanos runnable_ns = 0;
  Nanos blocked_ns = 0;
  Nanos unknown_ns = 0;
  Nanos lifetime_ns = 0;
  Nanos open_wait_ns = 0;  ///< part of blocked_ns: the wait that reaches past the window's end or never ended

  friend bool operator==(const ActorTime&, const ActorTime&) = default;
};

void add(ActorTime& sum, const ActorTime& time);

struct Sweep {
  std::vector<SiteSum> sites;     ///< parallel to Trace::sites
  std::vector<ActorTime> actors;  ///< parallel to Trace::actors

  friend bool operator==(const Sweep&, const Sweep&) = default;
};

/// Sweeps a trace that satisfies validate(). Takes O(events × log threads) time however long queues are
/// (wait_forest.h), divided by the CPUs that this process may use: they sweep parts of the window side by
/// side (sweep_part.h). In addition to the trace it takes 4 bytes of memory for each wait and preemption, and
/// that of a batch of events for each CPU (wait_events.h). If there are several parts, their own sums take up
/// to 40 bytes more for each wait. Fails, naming the wait, on a trace that cannot have happened: a
/// thread wakes another while it is itself blocked, or two threads wait for each other at the same time. At
/// one instant wakes come before blocks, and each in order of thread. Also fails if the sum of all weights
/// does not fit Nanos, so that no sum of weights overflows.
Result<Sweep> sweep(const Trace& trace);

/// The same in parts that `cuts` divide, in any order. The result does not depend on them. Cuts that are not
/// inside the window, or equal to others, divide nothing.
Result<Sweep> sweep(const Trace& trace, std::span<const Nanos> cuts);

}  // namespace offwait
