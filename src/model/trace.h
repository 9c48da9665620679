// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as plain values: the lives of threads, their waits and wakers, the requests to disks. It is the
// one input of every analysis. It comes from a live recording (src/event) or from text (src/trace); nothing
// in it refers to a kernel, a file or a process that must still exist.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/evictable.h"
#include "base/nanos.h"
#include "model/cpus.h"
#include "model/frame.h"
#include "model/memory.h"
#include "model/object.h"
#include "model/peer.h"
#include "model/stack_cut.h"

namespace offwait {

using ActorId = std::uint32_t;   // index into Trace::actors
using SiteId = std::uint32_t;    // index into Trace::sites
using StackId = std::uint32_t;   // index into Trace::stacks
using FrameId = std::uint32_t;   // index into Trace::frames
using PeerId = std::uint32_t;    // index into Trace::peers
using ObjectId = std::uint32_t;  // index into Trace::objects

inline constexpr ActorId kNoActor = UINT32_MAX;
inline constexpr StackId kNoStack = UINT32_MAX;
inline constexpr PeerId kNoPeer = UINT32_MAX;
inline constexpr ObjectId kNoObject = UINT32_MAX;

enum class ActorKind : std::uint8_t { thread, group, disk, nic, timer, irq, softirq };
std::string_view to_string(ActorKind kind);

/// The kind of thing that a thread waits for (doc/design.md "Terms"). In the terms of the blocked samples
/// paper (OSDI '24) `disk` is subclass I; `futex`, `lock` and `spin` are L; the rest are B. `spin` is
/// declared busy waiting (--spin, annotate.h). A signal or a debugger has `stopped` the thread, or its
/// cgroup is `frozen`: it waits for nothing. This list is the only one; a new class is added at its end.
#define OFFWAIT_WAIT_CLASSES(X) \
  X(disk)                       \
  X(net) X(futex) X(lock) X(pipe) X(poll) X(sleep) X(child) X(fault) X(other) X(spin) X(stopped) X(frozen)
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
/// The length of the part of [from, to) that lies inside the window, in ns.
Nanos clipped(Nanos from, Nanos to, const Window& window);

/// A vertex of the wait-for graph. A thread is identified by (tid, start). Tids are reused, so actors may
/// have the same tid; their lifetimes [start, exit) then do not overlap.
struct Actor {
  ActorKind kind = ActorKind::thread;
  /// A thread's last comm; `vda`, `eth0` for a disk or interface; an interrupt's vector, or its number and
  /// name; empty for the timer. Hostile bytes: escape them in every output.
  std::string name;
  // Threads only:
  std::int32_t tid = 0;
  std::int32_t tgid = 0;
  std::int32_t ns_tid = 0;  ///< its tid in its own PID namespace; 0 if that is `tid`
  /// How many threads it stands for, one after the other (event/relays.h). Between them it waits for the one
  /// that makes the next one. If there are several, `tid` is a number that Linux gives to no thread.
  std::uint32_t lives = 1;
  Nanos start = 0;            ///< birth; may lie before the window
  Nanos exit = kNever;        ///< kNever if it was alive at the window's end
  Nanos seen = 0;             ///< recorded from this time on; its states before are `unknown`
  ActorId parent = kNoActor;  ///< the thread that forked or cloned it; kNoActor if the fork was not recorded
  bool kernel = false;        ///< a kernel thread outside of the target
  bool outside = false;       ///< not part of the target: recorded because it woke a recorded thread
  bool recorder = false;      ///< outside: of the offwait that recorded, or of a process that it started
  /// The path of the executable that its process runs; empty: not known. Hostile bytes, like the title.
  std::string program{};
  /// What a process says of itself in its command line, as setproctitle(3) does: `postgres: walwriter`; or
  /// the interpreter with the script that it runs: `python3 app.py`. Of threads with has_title(); empty:
  /// none.
  std::string title{};
  /// The CPUs on which the thread may run (sched_setaffinity(2), cpusets); empty: all of them, or not known.
  CpuList allowed_cpus{};
  // Disks only:
  /// Names of the disks that this one is made of, the nearest first. For a loop device that is the disk with
  /// its file's file system, then the disks below. Empty if the disk is made of no other, or if it is not
  /// known.
  std::vector<std::string> on;
};
/// How long the thread is known to live in the part of the window, in ns: not before it was seen.
Nanos known_life(const Actor& thread, const Window& part);

/// The properties that waits of one kind have in common. Sites are interned: no two in a trace are equal.
struct WaitSite {
  ActorId thread = kNoActor;  ///< the thread that waits
  ActorId waker =
      kNoActor;  ///< the actor that ended the wait; kNoActor if unknown or if the wait is still open
  WaitClass wait_class = WaitClass::other;
  StackId wait_stack = kNoStack;
  StackId waker_stack = kNoStack;
  /// A wait for a packet consists of two entries. The first one is for the thread that sends the packet, and
  /// ends at the send without runnable time. The second one begins there, is for the interface, and has
  /// `in_flight` set. Only the first one counts as a wait, even if it is empty.
  bool in_flight = false;
  /// The peer of the socket that was waited on or, where that is not known (poll, epoll), the sender of the
  /// packet that ended the wait.
  PeerId peer = kNoPeer;
  /// The wait is of class disk, in a call that returns when any of the requests under way is done
  /// (io_uring_enter, io_getevents, poll and the like).
  bool any_request = false;
  friend bool operator==(const WaitSite&, const WaitSite&) = default;
};

/// What stands in place of a function where an actor waits while no thread of it is alive.
Frame not_alive_frame();

/// One blocked interval [block, wake) of a thread, then a runnable one [wake, run).
/// block <= wake <= run. `wake` is kNever for a thread still blocked at the window's end, `run` is kNever
/// for one that is blocked or was woken and has not run yet. A thread already blocked at the window's
/// start has block <= window.begin.
struct Wait {
  SiteId site = 0;
  ObjectId object = kNoObject;  ///< what is waited for; kNoObject: not known
  Nanos block = 0;
  Nanos wake = kNever;
  Nanos run = kNever;
  /// The thread that had the lock when the wait began or, if it began before the window, when the window
  /// began. kNoActor: not known, or `object` is not a lock.
  ActorId holder = kNoActor;
  /// 1 ÷ the probability with which its stacks were taken, if chance decided that and they were; else 1.
  float stands_for = 1;
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

/// A CPU sample: the thread was running at `at` in this stack. Each CPU takes Recording::sample_hz samples a
/// second of the thread that runs there.
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

/// The cumulative counters of a disk in /proc/diskstats, read at `at`.
struct DiskCounters {
  ActorId disk = kNoActor;
  Nanos at = 0;
  std::uint64_t bytes = 0;  ///< read + written + discarded
  std::uint64_t ios = 0;    ///< completed requests, flushes included
  std::uint64_t in_flight =
      0;  ///< requests begun and not complete at `at`; not included in the other counters
};

/// What a request asks of a disk; `other` is a flush of its cache, or a discard.
enum class DiskOperation : std::uint8_t { unknown, read, write, other };
inline constexpr std::size_t kDiskOperations = 4;
std::string_view to_string(DiskOperation operation);

/// One request to a disk: in flight in [issue, complete).
struct DiskIo {
  ActorId thread = kNoActor;  ///< the thread that submitted it; kNoActor if that was not recorded
  ActorId disk = kNoActor;
  Nanos issue = 0;
  Nanos complete = 0;
  std::uint64_t bytes = 0;
  /// The file whose data it carries, or the journal or metadata of a file system; kNoObject: not known.
  ObjectId file = kNoObject;
  DiskOperation operation = DiskOperation::unknown;
};

/// Where a capacity comes from (doc/design.md "Devices"). Only the drivers of interfaces report one.
enum class CapacitySource : std::uint8_t { given, measured, assumed, reported };
std::string_view to_string(CapacitySource source);
/// The most that a disk can do.
struct DiskCapacity {
  ActorId disk = kNoActor;
  double bytes_per_s = 0;
  double ios_per_s = 0;
  CapacitySource source = CapacitySource::assumed;
  std::string measured_on{};  ///< a day that satisfies is_day(); empty: not measured, or not known
};
/// Whether the text is a day like `2026-11-21`: four digits, a month and a day of the month.
bool is_day(std::string_view text);

/// The cumulative counters of a network interface in /proc/net/dev, read at `at`.
struct NicCounters {
  ActorId nic = kNoActor;
  Nanos at = 0;
  std::uint64_t received = 0;  ///< bytes
  std::uint64_t sent = 0;      ///< bytes
};

/// The most that an interface can carry in each direction, in bytes per second. Loopback and the like have
/// none.
struct NicCapacity {
  ActorId nic = kNoActor;
  double received_per_s = 0;
  double sent_per_s = 0;
  CapacitySource source = CapacitySource::assumed;
};

/// How often a thread responded to clients on one local address. A response is the first data sent on an
/// accepted connection after data was received there. first <= last; both lie in the window.
struct Responses {
  ActorId thread = kNoActor;
  std::uint16_t port = 0;  ///< TCP; 0: a unix socket
  /// The name that a unix socket is bound to; empty for TCP. It begins with a zero if it is no file's path.
  /// Hostile bytes.
  std::string path;
  std::uint64_t count = 0;
  /// The connections whose first response in the window was this thread's. The sum over the threads is the
  /// number of connections, however many threads served each.
  std::uint64_t connections = 0;
  Nanos first = 0;
  Nanos last = 0;
  /// Sums over the responses; divided by the window, they are how many requests there were at a time.
  /// From when a thread of the server received a request until this thread responded. A request that was
  /// received before the window does not count.
  Nanos under_way = 0;
  /// How long requests were in their sockets before a thread received them: at least, as it is the time since
  /// the last packet. TCP only.
  Nanos unread = 0;
};

/// How often a thread called the function whose calls the user counts as progress. first <= last; both lie in
/// the window.
struct Calls {
  ActorId thread = kNoActor;
  std::string function;  ///< as the user named it
  std::uint64_t count = 0;
  Nanos first = 0;
  Nanos last = 0;
};

/// How stacks were taken. A repeated stack is recognised instead of walked again; some of those recognised
/// are walked as a check.
struct StackReuse {
  std::uint64_t walked = 0;
  std::uint64_t recalled = 0;
  std::uint64_t verified = 0;  ///< part of `recalled`: walked as a check
  std::uint64_t wrong = 0;     ///< part of `verified`: the walk found another stack
  friend bool operator==(const StackReuse&, const StackReuse&) = default;
};

/// What the user calls a recording, to tell it from others: `version` and `10.11`, say.
struct Label {
  std::string name;  ///< never empty
  std::string value;
  friend bool operator==(const Label&, const Label&) = default;
};

/// What recording took from the machine, in the window and on all CPUs.
struct RecordingCost {
  Nanos programs_ns = 0;  ///< run time of offwait's programs in the kernel, estimated; 0: not known
  Nanos recorder_ns = 0;  ///< CPU time of the recorder's own threads; 0: not known
  double most = 0;        ///< part of cpu_busy_ns within which recording was to keep; 0: no limit
  // Waits that could have stacks, when some were left out to keep within the limit; 0: all were taken.
  std::uint64_t waits_with_stacks = 0;
  std::uint64_t waits_without_stacks = 0;
  friend bool operator==(const RecordingCost&, const RecordingCost&) = default;
};

/// How the recording was made, and on which machine. The report shows it; the graph does not depend on it.
struct Recording {
  std::string target;      ///< "pid 1234"
  std::string start_time;  ///< RFC 3339, UTC
  std::string kernel;      ///< uname -r
  std::uint32_t cpus = 0;
  std::string offwait;  ///< version that recorded
  // Times of all CPUs of the machine in the window, used by any program. Both 0: not known.
  Nanos cpu_busy_ns = 0;  ///< includes time taken by the hypervisor, which no thread could have used
  Nanos cpu_idle_ns = 0;
  std::uint32_t sample_hz = 0;  ///< CPU samples a second on each CPU; 0: none were taken
  StackReuse stack_reuse{};
  RecordingCost cost{};
  Nanos cpu_steal_ns = 0;  ///< part of cpu_busy_ns that the hypervisor took
  /// The tgid of the program that was run for the recording, and was recorded from its exec on; 0: there was
  /// none, the target ran already.
  std::int32_t command = 0;
  /// The tgid of the offwait that recorded; 0: not known, then name_recorder() says who it was.
  std::int32_t recorder = 0;
  std::string host{};           ///< uname -n; empty: not known. Hostile bytes, like the labels
  std::vector<Label> labels{};  ///< in the user's order
  /// The recording ended before it was told to. The window ends where it was last known to be whole, and
  /// functions may have no names.
  bool interrupted = false;
};

/// Numbers of lost events by the counters of include/offwait/loss_counters.h. Every counter is present, even
/// if it is 0.
using LossCounts = std::map<std::string, std::uint64_t>;

/// The `waits`, `preemptions` and `gaps` of one thread are in order of time and disjoint from each other
/// (they may touch). Those of different threads may be interleaved in any way. validate() checks this;
/// Histories (model/histories.h) returns them by thread.
struct Trace {
  Window window;
  Recording recording;
  LossCounts loss;
  std::vector<Actor> actors;
  std::vector<Peer> peers;
  std::vector<Object> objects;
  std::vector<WaitSite> sites;
  EvictableVector<Wait> waits;
  EvictableVector<Preemption> preemptions;
  std::vector<Gap> gaps;
  std::vector<FalseMark> false_marks;  ///< those of one thread in order of time
  std::vector<CpuSample> cpu_samples;  ///< in any order
  std::vector<Responses> responses;    ///< one for each thread and address, in any order
  std::vector<Calls> calls;            ///< one for each thread and function, in any order
  std::vector<Frame> frames;
  std::vector<Stack> stacks;
  std::vector<DiskCapacity> capacities;
  std::vector<DiskCounters> disk_counters;
  std::vector<DiskIo> disk_ios;
  std::vector<NicCapacity> nic_capacities;
  std::vector<NicCounters> nic_counters;
  std::vector<CpuTime> cpu_times;    ///< of each CPU online, in order of number; empty: not known
  std::vector<CpuQuota> cpu_quotas;  ///< empty: none, or not known
  std::vector<MemoryUse> memory;     ///< of the machine and of the target's cgroups; empty: not known
  std::vector<ProcessCpuTime> other_processes;  ///< those outside of the target that used most CPU time
};

}  // namespace offwait
