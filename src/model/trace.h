// SPDX-License-Identifier: GPL-2.0-or-later
// What was recorded, as plain values: who lived when, who waited for whom and when, what the disks did.
// This is the one input of every analysis. It comes from a live recording (src/event) or from text
// (src/trace); nothing in it refers to a kernel, a file or a process that must still exist.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "model/frame.h"
#include "model/peer.h"
#include "model/stack_cut.h"

namespace offwait {

using ActorId = std::uint32_t;  // index into Trace::actors
using SiteId = std::uint32_t;   // index into Trace::sites
using StackId = std::uint32_t;  // index into Trace::stacks
using FrameId = std::uint32_t;  // index into Trace::frames
using PeerId = std::uint32_t;   // index into Trace::peers

inline constexpr ActorId kNoActor = UINT32_MAX;
inline constexpr StackId kNoStack = UINT32_MAX;
inline constexpr PeerId kNoPeer = UINT32_MAX;

enum class ActorKind : std::uint8_t { thread, group, disk, nic, timer, irq, softirq };
std::string_view to_string(ActorKind kind);

/// What a thread waits for (doc/design.md "Terms"). In the terms of the blocked samples paper (OSDI '24)
/// `disk` is subclass I, `futex`, `lock` and `spin` are L, the rest B. `spin` is busy waiting that was
/// declared (--spin, annotate.h). A new class is added at the end: this list is the only one.
#define OFFWAIT_WAIT_CLASSES(X) \
  X(disk) X(net) X(futex) X(lock) X(pipe) X(poll) X(sleep) X(child) X(fault) X(other) X(spin)
#define X(name) name,
enum class WaitClass : std::uint8_t { OFFWAIT_WAIT_CLASSES(X) };
#undef X
#define X(name) +1
inline constexpr std::size_t kWaitClasses = 0 OFFWAIT_WAIT_CLASSES(X);
#undef X
std::string_view to_string(WaitClass wait_class);

/// The recorded interval. Everything is clipped to [begin, end).
struct Window {
  Nanos begin = 0;
  Nanos end = 0;
  Nanos length() const { return end - begin; }
};
/// How much of [from, to) lies inside the window.
Nanos clipped(Nanos from, Nanos to, const Window& window);

/// A vertex of the wait-for graph. A thread is identified by (tid, start): tids are reused, so two
/// actors may have the same tid with lifetimes [start, exit) that do not overlap.
struct Actor {
  ActorKind kind = ActorKind::thread;
  /// comm of a thread (the last one it had), `vda` of a disk, `eth0` of a nic, vector or number and
  /// name of an interrupt; empty for the timer. Hostile bytes: escape in every output.
  std::string name;
  // Threads only:
  std::int32_t tid = 0;
  std::int32_t tgid = 0;
  std::int32_t ns_tid = 0;    ///< what its own PID namespace calls it, where that is not `tid`; else 0
  Nanos start = 0;            ///< birth; may lie before the window
  Nanos exit = kNever;        ///< death; kNever if alive at the window's end
  Nanos seen = 0;             ///< recorded from here on; the lifetime before it is `unknown`
  ActorId parent = kNoActor;  ///< the thread that forked or cloned it; kNoActor when that was not seen
  bool kernel = false;        ///< a kernel thread outside of the target: it works for others
  bool outside = false;       ///< not part of the target: recorded because it woke a recorded thread
  // Disks only:
  /// Names of the disks that this one is made of, the nearest first: of a loop device the one with its file's
  /// file system, then those below that. Empty for a disk that is no other's, or when not known.
  std::vector<std::string> on;
};

/// What waits of one kind have in common. Sites are interned: no two in a trace are equal.
struct WaitSite {
  ActorId thread = kNoActor;  ///< who waits; always a thread
  ActorId waker = kNoActor;   ///< who ended it; kNoActor when unknown, or for waits that are still open
  WaitClass wait_class = WaitClass::other;
  StackId wait_stack = kNoStack;
  StackId waker_stack = kNoStack;
  /// The second half of a wait for a packet, after the first, which is a wait of its own and ends, without
  /// runnable time, where this one begins: there the thread that was waited for had sent it. From then on the
  /// interface was waited for. Not counted where waits are counted; the first one is, be it empty.
  bool in_flight = false;
  /// Whom the socket that was waited on is connected to or, where that is not known (poll, epoll), who sent
  /// the packet that ended the wait.
  PeerId peer = kNoPeer;
  /// Of class disk, in a call that returns when any of the requests under way is done (io_uring_enter,
  /// io_getevents, poll and the like).
  bool any_request = false;
  /// Who held the pthread mutex that is waited for. Known only of threads that were blocked when the
  /// recording began.
  ActorId holder = kNoActor;
  friend bool operator==(const WaitSite&, const WaitSite&) = default;
};

/// One blocked interval [block, wake) of a thread, then a runnable one [wake, run).
/// block <= wake <= run. `wake` is kNever for a thread still blocked at the window's end, `run` is kNever
/// for one that is blocked or was woken and has not run yet. A thread already blocked at the window's
/// begin has block <= window.begin.
struct Wait {
  SiteId site = 0;
  std::uint32_t futex = 0;  ///< which one, as a hash of its address; 0: no futex, or not known
  Nanos block = 0;
  Nanos wake = kNever;
  Nanos run = kNever;
};

/// A thread was switched out while still runnable: runnable in [out, run); run may be kNever.
struct Preemption {
  ActorId thread = kNoActor;
  Nanos out = 0;
  Nanos run = kNever;
};

/// The program says that the last wakeup of this thread before `at` was false (annotate.h).
struct FalseMark {
  ActorId thread = kNoActor;
  Nanos at = 0;
};

/// Records of this thread were lost: its state in [from, to) is unknown.
struct Gap {
  ActorId thread = kNoActor;
  Nanos from = 0;
  Nanos to = 0;
};

/// The thread was running at `at`, and where: one beat of a clock that looks at each CPU so many times a
/// second (Recording::sample_hz).
struct CpuSample {
  ActorId thread = kNoActor;
  StackId stack = kNoStack;
  Nanos at = 0;
};

/// One stack. Stacks are interned: no two in a trace are equal.
struct Stack {
  std::vector<FrameId> frames{};  ///< leaf first: kernel frames, then user frames (Frame::kind)
  /// Why the user frames do not reach the outermost one; none if they do, or if there should be none.
  std::optional<StackCut> cut{};

  bool empty() const { return frames.empty() && !cut; }
  friend bool operator==(const Stack&, const Stack&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Stack&, const Stack&) = default;
};

/// Cumulative counters of a disk, as /proc/diskstats has them, read at `at`.
struct DiskSample {
  ActorId disk = kNoActor;
  Nanos at = 0;
  std::uint64_t bytes = 0;      ///< read + written + discarded
  std::uint64_t ios = 0;        ///< completed requests, flushes included
  std::uint64_t in_flight = 0;  ///< requests begun and not complete at `at`; in no other counter
};

/// One request to a disk: in flight in [issue, complete).
struct DiskIo {
  ActorId thread = kNoActor;  ///< who submitted it; kNoActor when not recorded
  ActorId disk = kNoActor;
  Nanos issue = 0;
  Nanos complete = 0;
  std::uint64_t bytes = 0;
};

/// What a disk can do at most, and how that is known. doc/design.md "Devices".
/// `reported`: by an interface's driver.
enum class CapacitySource : std::uint8_t { given, measured, assumed, reported };
std::string_view to_string(CapacitySource source);
struct DiskCapacity {
  ActorId disk = kNoActor;
  double bytes_per_s = 0;
  double ios_per_s = 0;
  CapacitySource source = CapacitySource::assumed;
  std::string measured_on{};  ///< the day, as is_day() wants it; empty: not measured, or not known
};
/// `2026-11-21`: four digits, a month, a day of the month.
bool is_day(std::string_view text);

/// Cumulative counters of a network interface, as /proc/net/dev has them, read at `at`.
struct NicSample {
  ActorId nic = kNoActor;
  Nanos at = 0;
  std::uint64_t received = 0;  ///< bytes
  std::uint64_t sent = 0;      ///< bytes
};

/// What an interface can carry at most in each direction, bytes a second. Loopback and the like have none.
struct NicCapacity {
  ActorId nic = kNoActor;
  double received_per_s = 0;
  double sent_per_s = 0;
  CapacitySource source = CapacitySource::assumed;
};

/// Stacks that were taken. Known ones are compared with the thread's, not walked; some of them are walked all
/// the same, to see whether they still are what they were taken for.
struct StackReuse {
  std::uint64_t walked = 0;
  std::uint64_t recalled = 0;
  std::uint64_t verified = 0;  ///< of those recalled
  std::uint64_t wrong = 0;     ///< of those verified
  friend bool operator==(const StackReuse&, const StackReuse&) = default;
};

/// How the recording was made, and on what; said in the report, never part of the graph.
struct Recording {
  std::string target;      ///< "pid 1234"
  std::string start_time;  ///< RFC 3339, UTC
  std::string kernel;      ///< uname -r
  std::uint32_t cpus = 0;
  std::string offwait;  ///< version that recorded
  // What all CPUs of the machine did in the window, whoever used them. Both 0: not known.
  Nanos cpu_busy_ns = 0;  ///< time taken by the hypervisor is busy, too: no thread could have had it
  Nanos cpu_idle_ns = 0;
  std::uint32_t sample_hz = 0;  ///< how often who runs was sampled on each CPU; 0: not at all
  StackReuse stack_reuse{};
};

/// Lost events by the name of the way they were lost (include/offwait/loss_counters.h). Every known
/// counter is present, zero or not; `total` is not stored.
using LossCounts = std::map<std::string, std::uint64_t>;

/// Order: `waits`, `preemptions` and `gaps` of one thread are in order of time and disjoint among each
/// other (they may touch); different threads may be interleaved in any way. validate() checks it;
/// Histories (model/histories.h) gives them thread by thread.
struct Trace {
  Window window;
  Recording recording;
  LossCounts loss;
  std::vector<Actor> actors;
  std::vector<Peer> peers;
  std::vector<WaitSite> sites;
  std::vector<Wait> waits;
  std::vector<Preemption> preemptions;
  std::vector<Gap> gaps;
  std::vector<FalseMark> false_marks;  ///< those of one thread in order of time
  std::vector<CpuSample> cpu_samples;  ///< in any order
  std::vector<Frame> frames;
  std::vector<Stack> stacks;
  std::vector<DiskCapacity> capacities;
  std::vector<DiskSample> disk_samples;
  std::vector<DiskIo> disk_ios;
  std::vector<NicCapacity> nic_capacities;
  std::vector<NicSample> nic_samples;
};

}  // namespace offwait
