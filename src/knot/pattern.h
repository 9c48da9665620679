// SPDX-License-Identifier: GPL-2.0-or-later
// The kind of bottleneck that a knot is, by rule. The rules see sums of time and which stacks are equal,
// never what a stack says; where they cannot tell, they say `mixed`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "knot/knots.h"

namespace offwait {

/// In the order in which the rules are tried; the first that holds is the answer. "Most" is ≥ 60 %.
enum class Pattern : std::uint8_t {
  /// Threads wait for each other at least as long as for devices, most of that time ended in releases of
  /// several threads at once, and who released them waited for a disk for a fifth of it or more. A barrier
  /// whose last thread waits for a disk looks the same, but lets as many go each time.
  group_commit,
  /// The knot contains a device.
  blocking_io,
  /// Its threads lack CPU (lacks_cpu()), and who they waited for ran for less than a seventh of the time it
  /// was not blocked itself, and did not wait for disks for longer than for a CPU. Threads that contend for a
  /// lock on few CPUs are runnable as long, but its holder runs. Measured: 33 % with db_bench's cache in one
  /// shard, where sharding gave a factor of 2.7 on the same CPUs, and 1 % with six bits of shards on half of
  /// the CPUs; MariaDB with 8 clients 17 to 23 %, with 64 clients 4 to 9 %, where a thread pool gave 1.4.
  cpu_starvation,
  /// Its threads spent most of their blocked time waiting for a timer (such edges are in no knot).
  timer_driven,
  /// Most of the wait time is spent on an in-kernel lock, or on a futex by threads that wait for others
  /// that themselves wait at the same place: A waits for B in the stacks in which B waits for its own
  /// wakers. Those who contend for a lock all wait in its acquisition, be there two of them, a ring of
  /// them or a merged group (self-loop). A barrier of two looks the same.
  lock_contention,
  /// The same, but most of that wait time ended in releases of several threads at once: who comes last to a
  /// barrier lets all others go, while a lock is handed over one by one.
  load_imbalance,
  /// Most of the wait time is spent on pipes, or on a futex by threads that wait for others that
  /// themselves wait elsewhere: A waits for a full queue, B for an empty one.
  producer_consumer,
  /// Most of the wait time is spent on sockets or in polls, for threads of the knot: both sides of a closed
  /// loop are in it.
  request_answer,
  /// None of the above, or not known for lack of stacks.
  mixed,
};

/// `blocking-io`, `lock-contention`, … as in the report.
std::string_view to_string(Pattern pattern);

/// Futex waits of one edge in one wait stack.
struct StackWait {
  std::uint32_t wait_stack = 0;  ///< equal for equal stacks, across all edges of the knot
  Nanos wait_ns = 0;
};

/// An edge of the knot: plain wait time by wait class.
struct PatternEdge {
  VertexId from = 0;
  VertexId to = 0;
  Nanos futex_ns = 0;
  Nanos lock_ns = 0;  ///< in-kernel locks, and spin locks
  Nanos pipe_ns = 0;
  Nanos net_ns = 0;            ///< sockets and polls
  Nanos other_ns = 0;          ///< every other class
  Nanos together_ns = 0;       ///< part of all of them: of waits that ended in releases of several at once
  Nanos together_disk_ns = 0;  ///< part of together_ns: who released them waited for a disk
  bool to_device = false;
  /// Parts of futex_ns; waits without a known stack are left out.
  std::vector<StackWait> futex_stacks;
};

struct PatternKnot {
  bool has_device = false;
  // Sums over its threads:
  Nanos runnable_ns = 0;
  Nanos blocked_ns = 0;
  Nanos timer_ns = 0;  ///< part of blocked_ns: waits that a timer ended
  // Over its edges, while they were waited for, its threads were:
  Nanos waker_running_ns = 0;
  Nanos waker_runnable_ns = 0;
  Nanos waker_disk_ns = 0;  ///< waiting for a disk
  std::vector<PatternEdge> edges;
};

/// The knot's threads were runnable for a quarter of the time that they did not run: beside any pattern it
/// is worth saying that CPUs are short.
bool lacks_cpu(const PatternKnot& knot);

/// Two places count as the same when the distributions of wait time over stacks overlap by half or more.
Pattern classify(const PatternKnot& knot);

}  // namespace offwait
