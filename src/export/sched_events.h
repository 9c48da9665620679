// SPDX-License-Identifier: GPL-2.0-or-later
// The states of threads as the kernel's scheduler reports them: threads come to CPUs and leave them, and are
// woken. A recording does not say on which CPU a thread ran, so CPUs are numbered here: a thread runs on the
// one where it ran last, if that is free, else on the first that is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// Why a thread left its CPU.
enum class Leaving : std::uint8_t {
  stays,       ///< it did not, until the window's end
  wait,        ///< it can be interrupted in its wait,
  disk_wait,   ///< or not: for a disk, a lock in the kernel, or memory
  preemption,  ///< it is ready to run
  gap,         ///< records were lost: its state is unknown
  exit,
};

/// A thread ran on a CPU in [from, to). A run without length stands where a thread changes its state without
/// running, as at the window's start.
struct Run {
  ActorId thread = kNoActor;
  Nanos from = 0;
  Nanos to = 0;
  Leaving leaving = Leaving::stays;
  std::uint32_t cpu = 0;
  std::uint32_t place = 0;  ///< among the runs on its CPU, in order of time
};

/// A wakeup that ended a wait. A wait for a packet, which is two entries of a trace, has one.
struct Waking {
  Nanos at = 0;
  SiteId site = 0;        ///< says who was woken by whom
  std::uint32_t run = 0;  ///< index of the last run before it
};

/// One event. Those of one CPU are in order; at one instant a thread is woken after it has left its CPU and
/// before it comes to one, by a waker that has not left its CPU yet.
struct SchedEvent {
  enum class Kind : std::uint8_t { comes, leaves, waking };
  Nanos at = 0;
  std::uint32_t cpu = 0;
  Kind kind = Kind::comes;
  std::uint32_t index = 0;  ///< into SchedEvents::runs or SchedEvents::wakings
  std::uint64_t rank = 0;   ///< orders events of one CPU at one instant
};

struct SchedEvents {
  std::vector<Run> runs;  ///< by thread, each thread's in order of time
  std::vector<Waking> wakings;
  std::vector<SchedEvent> events;  ///< in order of time, then by CPU
  std::uint32_t cpus = 0;          ///< how many it takes: as many as threads ran at one time
};

/// The trace must satisfy validate(). The states that follow from the events add up to those of sweep().
SchedEvents sched_events(const Trace& trace);

}  // namespace offwait
