// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of the text form (text.h) as values: one struct for each record. Lines name threads by tid; which
// life of the tid is meant is decided after all lines are known. trace/records.h has the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

using Tid = std::int32_t;
inline constexpr Tid kNoTid = 0;

/// The waker of a wait: a device, or the thread with this tid, or unknown if neither is set.
struct NamedWaker {
  ActorId device = kNoActor;
  Tid tid = kNoTid;
  friend bool operator==(const NamedWaker&, const NamedWaker&) = default;
};

/// An entry of the trace that belongs to the thread with this tid; the member `thread` is not set.
template <class Entry>
struct OfThread : Entry {
  Tid tid = kNoTid;
};

// The records `window`, `recording`, `label`, `stacks`, `loss`, `sample`, `traffic`, `percpu`, `quota`,
// `memory` and `process` are types of the model: Window, Recording, Label, StackReuse, RecordingCost,
// LossCounts, DiskCounters, NicCounters, CpuTime, CpuQuota, MemoryUse and ProcessCpuTime.

/// `cpu` has Recording::cpu_busy_ns, cpu_idle_ns and cpu_steal_ns.
struct CpuLine {
  Nanos busy = 0;
  Nanos idle = 0;
  Nanos steal = 0;
};

/// Actor::outside, Actor::kernel and Actor::recorder as one value, in `thread`.
enum class Outside : std::uint8_t { no, yes, kernel, recorder };
std::string_view to_string(Outside outside);

struct ThreadLine {
  static constexpr Nanos kSeenByDefault = -1;

  Tid tid = kNoTid;
  Tid tgid = 0;
  std::string comm;
  Nanos start = 0;
  Nanos exit = kNever;
  Tid ns_tid = kNoTid;
  Nanos seen = kSeenByDefault;  ///< by default the later of `start` and the window's start
  Outside outside = Outside::no;
  Tid parent = kNoTid;
  CpuList cpus;
  std::string program;
  std::string title;
  std::uint32_t lives = 1;
};

/// `disk` has the actor and, if present, its capacity.
struct DiskLine {
  ActorId disk = kNoActor;
  double bytes_per_s = 0;
  double ios_per_s = 0;
  std::optional<CapacitySource> capacity;
  std::string measured_on;
  std::vector<std::string> on;
};

/// `nic` has the actor and, if present, its capacity.
struct NicLine {
  ActorId nic = kNoActor;
  double received_per_s = 0;
  double sent_per_s = 0;
  std::optional<CapacitySource> capacity;
};

/// `irq`, `softirq` and `timer` have only the actor.
template <ActorKind kKind>
struct ActorLine {
  ActorId actor = kNoActor;
};
using IrqLine = ActorLine<ActorKind::irq>;
using SoftirqLine = ActorLine<ActorKind::softirq>;
using TimerLine = ActorLine<ActorKind::timer>;

/// `object` has a number, by which other lines name the object.
struct ObjectLine : Object {
  ObjectId number = kNoObject;
};

/// `wait` has both the wait and its site. Wait::site, the site's threads and the wait's holder are not set;
/// Wait::object is the number of an object's line. A wait has `object` or `futex_hash` or neither.
struct WaitLine : Wait, WaitSite {
  Tid tid = kNoTid;
  NamedWaker woken_by;
  Tid holder_tid = kNoTid;
  std::uint32_t futex_hash = 0;  ///< of recordings made before there were objects
};

using PreemptLine = OfThread<Preemption>;
using UnknownLine = OfThread<Gap>;
using FalseLine = OfThread<FalseMark>;
using OnCpuLine = OfThread<CpuSample>;
using ResponsesLine = OfThread<Responses>;
using CallsLine = OfThread<Calls>;
/// kNoTid: the submitter was not recorded. DiskIo::file is the number of an object's line.
using IoLine = OfThread<DiskIo>;

}  // namespace offwait
