// SPDX-License-Identifier: GPL-2.0-or-later
// Classifies a knot as a kind of bottleneck by rules. The rules use sums of time and the equality of stacks,
// never the names in a stack. If no rule holds the answer is `mixed`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "knot/knots.h"

namespace offwait {

/// In the order in which the rules are tried; the first that holds is the answer. "Most" is ≥ 60 %.
enum class Pattern : std::uint8_t {
  /// Threads of the same kind keep each other waiting while they are at a disk, one after the other: most of
  /// their waits for each other are for one that waits for a disk meanwhile, for a fifth of the time or more
  /// that it keeps them waiting; and after most of these waits the thread goes to the disk itself before it
  /// waits so again. They wait for each other at least half as long as for disks, and are let go one by one.
  /// A thread that is let go by a group commit has nothing left to do at the disk.
  lock_across_disk,
  /// Threads wait for each other at least as long as for devices. Most of that time ended in releases of
  /// several threads at once, and the releasing threads waited for a disk for a fifth of it or more. A
  /// barrier whose last thread waits for a disk looks the same, but releases the same number of threads each
  /// time.
  group_commit,
  /// The knot contains a device.
  blocking_io,
  /// Its threads lack CPU (lacks_cpu()). The threads that they waited for ran for less than a seventh of the
  /// time in which those were not blocked, and waited for disks at most as long as for a CPU. Threads that
  /// contend for a lock on few CPUs are runnable as long, but its holder runs. Measured shares: 33 % with
  /// db_bench's cache in one shard, where sharding gave a factor of 2.7 on the same CPUs, and 1 % with six
  /// bits of shards on half of the CPUs; MariaDB with 8 clients 17 to 23 %, with 64 clients 4 to 9 %, where a
  /// thread pool gave 1.4.
  cpu_starvation,
  /// Its threads spent most of their blocked time in waits for a timer (such edges are in no knot).
  timer_driven,
  /// Most of the wait time is spent on an in-kernel lock, or on a futex by threads that wait in the same
  /// place as their wakers do: A waits for B in the stacks in which B waits for its own wakers. Threads that
  /// contend for a lock all wait in its acquisition, whether they are two, a ring or a merged group
  /// (self-loop). A barrier of two looks the same.
  lock_contention,
  /// As lock_contention, but most of that wait time is at barriers, by their names, or ended in releases of
  /// several threads at once: the last thread at a barrier releases all others, while a lock is handed over
  /// one by one. Two threads that wait for each other at one condition are at a barrier made of it, too,
  /// unless their function is called a lock.
  load_imbalance,
  /// Most of the wait time is spent on pipes, or on a futex by threads that wait in another place than their
  /// wakers do:
  /// one waits at a full queue, the other at an empty one.
  producer_consumer,
  /// Most of the wait time is spent on sockets or in polls, for threads of the knot: both sides of a closed
  /// loop are in it.
  request_answer,
  /// None of the above, or not known for lack of stacks.
  mixed,
};

/// `blocking-io`, `lock-contention`, … as in the report.
std::string_view to_string(Pattern pattern);

/// What the names of functions say of a wait for another thread.
enum class WaitedAt : std::uint8_t { unknown, lock, condition, barrier };

/// Futex waits of one edge in one place.
struct StackWait {
  std::uint32_t place = 0;  ///< equal for equal places, across all edges of the knot
  Nanos wait_ns = 0;
  WaitedAt at = WaitedAt::unknown;
};

/// An edge of the knot: plain wait time by wait class.
struct PatternEdge {
  VertexId from = 0;
  VertexId to = 0;
  Nanos futex_ns = 0;
  Nanos lock_ns = 0;  ///< in-kernel locks, and spin locks
  Nanos pipe_ns = 0;
  Nanos net_ns = 0;       ///< sockets and polls
  Nanos other_ns = 0;     ///< every other class
  Nanos together_ns = 0;  ///< part of the sum of these: in waits that ended in releases of several at once
  Nanos together_disk_ns = 0;  ///< part of together_ns in which the releasing thread waited for a disk
  Nanos disk_ns = 0;           ///< part of other_ns: waits of class disk
  Nanos kept_ns = 0;           ///< these four as in SiteSum (graph/sweep.h)
  Nanos kept_disk_ns = 0;
  Nanos behind_disk_ns = 0;
  Nanos then_disk_ns = 0;
  bool to_device = false;  ///< or to or from a thread that works for one: the sums from together_ns on are 0
  /// Parts of futex_ns; waits without a known stack are left out.
  std::vector<StackWait> futex_stacks;
};

struct PatternKnot {
  bool has_device = false;  ///< or waits for a disk that threads that work for one ended
  std::size_t threads = 0;
  // Sums over its threads:
  Nanos runnable_ns = 0;
  Nanos blocked_ns = 0;
  Nanos timer_ns = 0;  ///< part of blocked_ns: waits that a timer ended
  // Summed over its edges: the time in which the waker was, during the waits,
  Nanos waker_running_ns = 0;
  Nanos waker_runnable_ns = 0;
  Nanos waker_disk_ns = 0;  ///< waiting for a disk
  std::vector<PatternEdge> edges;
};

/// Whether the knot's threads were runnable for a quarter or more of the time in which they did not run. CPUs
/// are then short, which is worth a note beside any pattern.
bool lacks_cpu(const PatternKnot& knot);

/// The first pattern that holds. Two places are the same if their distributions of wait time over stacks
/// overlap by half or more.
Pattern classify(const PatternKnot& knot);

}  // namespace offwait
