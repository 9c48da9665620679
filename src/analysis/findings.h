// SPDX-License-Identifier: GPL-2.0-or-later
// What an analysis found, complete in itself: every renderer shows this value and nothing else. It follows
// the contract "offwait-report/1" (report/offwait-report-1.schema.json): same order, seconds as double, and
// same names except for `excluded_waits`, which is `elsewhere` there. Strings are as recorded, hostile bytes:
// the renderers escape them. A type is called Found… where an earlier stage has a type for the same thing:
// Edge is an edge of the graph, FoundEdge what the findings say of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/found_answers.h"
#include "analysis/found_files.h"
#include "analysis/found_ids.h"
#include "analysis/found_samples.h"
#include "analysis/views.h"
#include "device/disk_activity.h"
#include "knot/knots.h"
#include "knot/pattern.h"
#include "model/backtrace.h"
#include "model/cpus.h"
#include "model/lost_time.h"
#include "model/peer.h"
#include "model/stack_cut.h"
#include "model/thread_filter.h"
#include "model/trace.h"
#include "progress/progress.h"
#include "replay/answers.h"

namespace offwait {

/// Seconds that threads spent in each state.
struct StateSeconds {
  double running_s = 0;
  double runnable_s = 0;
  double blocked_s = 0;
  double unknown_s = 0;
  double lifetime_s = 0;  ///< the sum of the four
};

/// What ended a wait of the target: an actor of this kind; `requests` from outside of the target, whichever
/// actor brought them; `nobody`, as the wait was still open at the window's end. In alphabetical order.
enum class BlockedBy : std::uint8_t { disk, irq, nic, nobody, requests, softirq, thread, timer, unknown };
std::string_view to_string(BlockedBy by);

struct Totals {
  std::uint32_t threads = 0;          ///< in the target
  std::uint32_t outside_threads = 0;  ///< recorded because they woke a thread of the target
  std::uint64_t waits = 0;            ///< by all threads
  std::uint64_t preemptions = 0;
  StateSeconds target;                    ///< summed over the target's threads
  double stopped_s = 0;                   ///< of that, stopped by a signal or a debugger
  double frozen_s = 0;                    ///< of that, in a frozen cgroup
  std::map<BlockedBy, double> waits_for;  ///< their blocked time by what ended it; without zeros
};

struct AppliedOptions {
  double min_weight_s = 0;
  double noise_s = 0;
  bool merge = true;
  bool keep_false_wakeups = false;
  ThreadFilter filter{};
};

/// What limits a sink.
enum class SinkLimit : std::uint8_t {
  execution,       ///< threads
  cpu,             ///< threads that are runnable for longer than they run
  capacity,        ///< devices
  remote_service,  ///< interfaces through which a service outside of the host answers
};
/// `execution`, `cpu`, `capacity`, `remote-service`.
std::string_view to_string(SinkLimit limit);

/// The answer: the first rule that holds, with the numbers that it rests on.
struct Verdict {
  enum class Kind : std::uint8_t {
    knot,        ///< at least one knot limits
    sink,        ///< no knot, but something saturated or paced
    background,  ///< nothing but background knots: they are shown as the answer
    cpu,         ///< no knot and nothing saturated, but it is ready to run for longer than it runs
    idle,        ///< the target waits for timers or requests, or for nothing, and hardly runs
    none,        ///< it runs a lot, or waits for a service, but nothing is saturated and no wait limits
    stopped,     ///< something keeps its threads from running
  };
  /// In the order in which they are tried.
  enum class Rule : std::uint8_t {
    stopped,     ///< its threads were stopped or frozen for most of their time
    knots,       ///< there are knots that are no background
    saturated,   ///< there are saturated sinks
    paced,       ///< there are paced sinks, or remote services limit
    requests,    ///< the target waits for requests from outside
    background,  ///< there are background knots
    no_waits,    ///< no thread waited
    lacks_cpu,   ///< as lacks_cpu below
    asks,        ///< the target hardly ran, and waited for a service for much of the window
    idle,        ///< the target hardly ran
    no_limit,    ///< none of these
  };
  Kind kind() const;

  Rule rule = Rule::no_limit;
  std::uint32_t knots = 0;                       ///< that are no background
  std::uint32_t saturated = 0;                   ///< sinks
  std::uint32_t paced = 0;                       ///< sinks other than those of remote services
  SinkLimit saturated_by = SinkLimit::capacity;  ///< the first of execution, cpu, capacity that one is
  /// The services outside of the host that the target waits for, if they limit.
  struct Remote {
    Peer longest;            ///< the one that is waited for longest
    std::size_t others = 0;  ///< how many more there are
    double wait_s = 0;       ///< for all of them
  };
  std::optional<Remote> remote{};
  /// The service that one of the target's actors waited for longest: for half of the window or more.
  std::optional<Peer> asked{};
  /// The longest edge of waits for requests, if these are long enough for Rule::requests.
  std::optional<FoundEdgeId> requests{};
  bool lacks_cpu = false;     ///< the target was runnable for long, and for longer than it ran
  bool machine_full = false;  ///< the machine's CPUs were all but taken, as far as is known
};
std::string_view to_string(Verdict::Kind kind);

struct FoundActor {
  ActorKind kind = ActorKind::thread;
  std::string name;      ///< a group has its members' common name, with `*` where their digits differ
  std::int32_t tid = 0;  ///< a group has that of its first member
  std::int32_t tgid = 0;
  std::vector<std::int32_t> tids;  ///< threads and groups: one per member
  /// The processes of its members, each once in the order of `tids`.
  std::vector<std::int32_t> tgids;
  std::string program;  ///< the path of the executable that the first one runs; empty: not known
  /// One per member: the tid in its own PID namespace. Empty if these are the same as `tids`.
  std::vector<std::int32_t> ns_tids;
  bool outside = false;
  bool recorder = false;  ///< outside: it belongs to the recording (Actor::recorder)
  bool kernel = false;    ///< outside: its threads are the kernel's (Actor::kernel)
  /// Threads and groups: how many threads these are, if relays stand for many of them (Actor::lives).
  std::uint64_t lives = 1;
  /// A group whose members follow each other, as one virtual thread: it waits for a creator while none lives.
  bool short_lived = false;
  StateSeconds time;            ///< threads: sum over the members; devices: all 0
  double open_wait_s = 0;       ///< part of blocked_s: waits still open at the window's end
  double lost_s = 0;            ///< part of unknown_s: records were lost here
  std::vector<std::string> on;  ///< disks: Actor::on

  /// How many threads it is; a device counts as one.
  std::size_t members() const;
};

struct FoundStack {
  WaitClass wait_class = WaitClass::other;
  double weight_s = 0;
  double wait_s = 0;
  std::uint64_t waits = 0;
  Backtrace wait_stack;  ///< empty when unknown
  Backtrace waker_stack;
  /// Standard error of weight_s where chance decided which waits have stacks. The edge's own weight is exact.
  double weight_error_s = 0;
};

/// The part of an edge whose waits were on sockets with this peer at the other end.
struct FoundPeer {
  Peer peer;
  std::uint64_t waits = 0;
  double wait_s = 0;
};
inline constexpr std::size_t kMostFoundPeers = 64;

inline constexpr std::size_t kMostSampledStacks = 32;

/// Most of an edge's wait time lies in a few short parts of the window (graph/phases.h).
struct FoundPhases {
  struct Range {
    double from_s = 0;  ///< since the window's start
    double to_s = 0;
  };
  double share = 0;     ///< the part of the wait time that lies in the ranges, 0 to 1
  double length_s = 0;  ///< the ranges together
  std::vector<Range> ranges;
};

/// An edge of the graph as it was built, before refinement. The seconds of a group's edge are divided by its
/// members; each_s and `waits` are not.
struct FoundEdge {
  FoundActorId from = 0;
  FoundActorId to = 0;
  bool idle = false;  ///< `from` is a device that waited for `to`'s next request
  std::uint64_t waits = 0;
  double wait_s = 0;
  double weight_s = 0;
  double each_s = 0;                    ///< mean length of one wait
  std::map<WaitClass, double> classes;  ///< wait_s by class, without zeros
  double waker_running_s = 0;
  double waker_runnable_s = 0;
  double waker_blocked_s = 0;
  double waker_unknown_s = 0;
  FoundSamples waker_samples;           ///< where `to` ran while `from` was in a wait that `to` ended
  std::vector<FoundStack> stacks;       ///< by weight, heaviest first
  std::uint64_t peers_known = 0;        ///< how many there were
  std::vector<FoundPeer> peers;         ///< the first kMostFoundPeers by wait_s, longest first
  std::optional<FoundPhases> phases{};  ///< none: spread over the window, or waited for less than 5 % of it
};

/// How the threads of a knot ended each other's waits: sums over its edges between threads.
struct KnotReleases {
  double wait_s = 0;                 ///< they waited for each other
  double together_s = 0;             ///< part of wait_s: ended together with waits of other threads
  double together_disk_s = 0;        ///< part of together_s: the thread that ended them waited for a disk
  std::uint64_t together_waits = 0;  ///< how many waits ended together with others,
  double releases = 0;          ///< in how many releases: a part of one if others of its waits are outside
  std::uint64_t largest = 0;    ///< the most threads that one release woke
  bool always_as_many = false;  ///< the mean is close to `largest`, as at a barrier
  double asleep_s = 0;          ///< part of wait_s: the thread that was waited for slept until a time
  bool often_asleep = false;    ///< asleep_s is a part of wait_s that is worth saying
  // Parts of wait_s, as in SiteSum (graph/sweep.h):
  double kept_s = 0;
  double kept_disk_s = 0;
  double behind_disk_s = 0;
  double then_disk_s = 0;
  /// They wait for one that is at a disk, and most do not go there themselves afterwards: what it did there,
  /// a sync for example, it did for them, too.
  bool served_at_disk = false;
};

enum class CpuShortage : std::uint8_t {
  none,
  besides,    ///< the threads were runnable for long as well
  above_all,  ///< they were runnable for longer than they ran and waited together
};

/// What the pattern of a knot was concluded from.
struct PatternEvidence {
  double running_s = 0;  ///< sum over its threads, as are the next three
  double runnable_s = 0;
  double blocked_s = 0;
  double timer_s = 0;          ///< part of blocked_s: waits that a timer ended
  double waker_running_s = 0;  ///< what its threads did while others in it waited for them
  double waker_runnable_s = 0;
  std::map<WaitClass, double> classes{};  ///< wait time on its edges by class, without zeros
  KnotReleases releases{};
  CpuShortage cpu_shortage = CpuShortage::none;
};

struct FoundKnot {
  std::vector<FoundActorId> actors;  ///< ascending
  std::vector<FoundEdgeId> edges;    ///< heaviest first
  bool background = false;
  Pattern pattern = Pattern::mixed;
  std::size_t threads = 0;  ///< how many there are, members of groups counted one by one
  PatternEvidence evidence{};
  double weight_s = 0;
  double cpu_s = 0;  ///< running or runnable, summed over its threads
};

/// A service outside of this host that the target waits for.
struct RemoteService {
  Peer peer;
  double wait_s = 0;
};

struct SinkSleeps {
  std::uint64_t count = 0;
  double sum_s = 0;
};

struct FoundSink {
  FoundActorId actor = 0;
  /// Busy all the time (kAlwaysBusy). A thread is only called so if some progress would gain from less work
  /// of it (kWorthALine).
  bool saturated = false;
  /// It is not saturated, but runs or sleeps all the time while working threads wait for it. Or it is an
  /// interface, and working threads wait for a service outside of the host that answers through it.
  bool paced = false;
  /// Groups: the busiest member's, so that it compares with the window. Short-lived threads: the time in
  /// which any of them was busy, divided as the sum over all of them is.
  double running_s = 0;
  double runnable_s = 0;
  double busy_s = 0;    ///< running_s + runnable_s; devices: window × (1 − idle fraction)
  double asleep_s = 0;  ///< slept until a time, by the member with the most busy and asleep time together
  SinkLimit limit = SinkLimit::execution;
  // SinkLimit::remote_service only:
  double remote_s = 0;                    ///< the target waited for its answers
  std::vector<RemoteService> services{};  ///< by wait_s, longest first
  // Threads that are paced only:
  std::optional<Pattern> pattern{};
  SinkSleeps sleeps{};
  FoundSamples samples{};  ///< all its threads, in the whole window

  bool limits() const { return saturated || paced; }  ///< else background
};

/// One step of the search, in the order taken: what was removed from the graph and why.
struct RefinementStep {
  using Reason = KnotStep::Reason;
  Reason reason = Reason::noise;
  std::optional<FoundEdgeId> edge;    ///< what went: this edge,
  std::optional<FoundActorId> actor;  ///< or this actor
  double weight_s = 0;                ///< the edge's weight, or the actor's busy time
};

/// What one thread (or group) had in flight at a disk.
struct FoundDiskUser {
  std::optional<FoundActorId> actor;  ///< none: a thread that was not recorded
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  double service_s = 0;  ///< mean of a request, inside the window
  double in_flight = 0;  ///< mean over the window
};

/// A disk's requests for one file. `ios` adds up to those of the disk's users.
struct FoundDiskFile {
  std::optional<FoundFileName> file{};  ///< none: not known
  bool flushes = false;  ///< for no file: flushes of the disk's cache, discards of unused blocks
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  std::uint64_t written_back = 0;  ///< part of `ios`: writes that a kernel thread sent
  double under_way_s = 0;          ///< each request's time under way inside the window, summed up
};

/// A disk's requests as /proc/diskstats counted them and as the block tracepoints showed them.
struct FoundDiskCheck {
  std::uint64_t counted_ios = 0;
  std::uint64_t counted_bytes = 0;
  std::uint64_t seen_ios = 0;
  std::uint64_t seen_bytes = 0;
  bool mismatch = false;  ///< by more than 2 %
};

/// What a disk had under way, by the requests that the tracepoints saw (device/disk_activity.h). Little's law
/// holds: ios_per_s × each_s = in_flight = busy share of the window × in_flight_while_busy.
struct FoundDiskActivity {
  DiskKind kind = DiskKind::idle;
  double under_way_s = 0;  ///< at least one request was under way
  double in_flight = 0;    ///< mean over the window
  double in_flight_while_busy = 0;
  double each_s = 0;  ///< a request's time from its issue to its completion
  std::uint64_t ios = 0;
  std::uint64_t bytes = 0;
  double ios_per_s = 0;
  double bytes_per_s = 0;
};

inline constexpr std::size_t kMostDiskFiles = 64;

struct FoundDisk {
  FoundActorId actor = 0;
  // By the kernel's counters, if there are any, and the capacity (device/disk.h, DiskUse):
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  double busy_s = 0;  ///< the part of its capacity that was used, times the window
  double idle_s = 0;  ///< the rest of the window
  double capacity_bytes_per_s = 0;
  double capacity_ios_per_s = 0;
  CapacitySource capacity_source = CapacitySource::assumed;
  bool capacity_raised = false;                 ///< to the highest rate seen
  double bytes_per_s = 0;                       ///< mean over the window
  double ios_per_s = 0;                         ///< mean over the window
  std::optional<FoundDiskActivity> activity{};  ///< none: no request was seen, but the counters show some
  std::uint64_t unseen = 0;                     ///< requests left out, as their completion was not seen
  std::vector<FoundDiskUser> users{};           ///< by bytes, most first
  std::vector<FoundDiskFile> files{};           ///< by under_way_s, most first; at most kMostDiskFiles
  std::uint64_t files_known = 0;                ///< how many there were
  std::optional<FoundDiskCheck> check{};
  std::string capacity_measured_on{};  ///< the day; empty: not measured, or not known
  std::uint32_t serves = 0;            ///< requests at a time; the others queue. 0: not known
};

/// One direction of an interface.
struct FoundNicDirection {
  std::uint64_t bytes = 0;
  double bytes_per_s = 0;           ///< mean over the window
  double capacity_bytes_per_s = 0;  ///< 0: none known
  double busy_s = 0;                ///< busy and idle: both 0 without a capacity
  double idle_s = 0;
};

struct FoundNic {
  FoundActorId actor = 0;
  std::optional<CapacitySource> capacity_source;  ///< none: it has no capacity
  bool capacity_raised = false;                   ///< to the highest rate seen
  FoundNicDirection received;
  FoundNicDirection sent;
};

/// One thread, be it a member of a group.
struct FoundThread {
  FoundActorId actor = 0;
  std::int32_t tid = 0;
  std::string name{};       ///< the thread's own; hostile bytes
  std::int32_t ns_tid = 0;  ///< as Actor::ns_tid
};

/// Threads of which each waits for a mutex that the next one holds, and the last one for the first one's.
struct Deadlock {
  std::vector<FoundThread> threads;  ///< from the one with the smallest tid on
};

/// A thread that was still blocked at the window's end.
struct FoundOpenWait {
  FoundActorId actor = 0;
  std::int32_t tid = 0;
  double wait_s = 0;        ///< inside the window
  bool throughout = false;  ///< from the window's start, or the thread's birth, to the end
  WaitClass wait_class = WaitClass::other;
  Backtrace wait_stack;
  /// The thread that holds the pthread mutex which it waits for, where that is known. The holder may be
  /// blocked as well, and is then another open wait.
  std::optional<FoundThread> holder{};
  bool deadlock = false;  ///< it is part of one of Findings::deadlocks
};

/// A long wait that is no part of an answer, and why: people look for it.
struct ExcludedWait {
  enum class Reason : std::uint8_t {
    leads_in,    ///< it leads to a knot or a sink, but none of these waits for the thread that waits here
    to_pseudo,   ///< it waits for a time or an interrupt, not for somebody
    requests,    ///< it waits for requests from outside of the target
    saturated,   ///< the thread that waits runs nearly all the time besides
    apart,       ///< nothing in the target waits for the thread that waits here
    light,       ///< refinement dropped it: others in its knot weigh more
    background,  ///< one of its ends is background
    noise,       ///< under the noise floor
    no_answer,   ///< there is no knot and no sink that limits
  };
  FoundEdgeId edge = 0;
  Reason reason = Reason::no_answer;
  std::optional<std::size_t> step{};         ///< the one that set it aside: index into Findings::refinement
  std::optional<FoundActorId> background{};  ///< Reason::background: that end
  // Reason::leads_in: to one of these, an index into Findings::knots or Findings::sinks
  std::optional<std::size_t> knot{};
  std::optional<std::size_t> sink{};
  bool waited_for = false;  ///< a knot waits for the thread that waits here, but not for long enough to count
};
std::string_view to_string(ExcludedWait::Reason reason);

/// Wakeups of threads that found nothing and waited again on the same futex (graph/false_wakeups.h).
struct FoundFalseWakeups {
  struct Edge {
    FoundActorId from = 0;  ///< was woken
    FoundActorId to = 0;    ///< woke it
    std::uint64_t count = 0;
  };
  bool removed = true;  ///< the waits around each are one; else they stay two (--keep-false-wakeups)
  std::uint64_t count = 0;
  double ran_s = 0;         ///< running time between those waits, which `removed` makes part of them
  std::vector<Edge> edges;  ///< most first
};

/// Waits for data that was written, but kept back by TCP until an acknowledgement came (held_back.h).
struct HeldBack {
  FoundActorId actor = 0;  ///< that waited
  bool asked = false;      ///< the actor itself had written it, a part of its request; else the service had
  Peer service{};          ///< one of them
  std::uint64_t waits = 0;
  double wait_s = 0;
  double share = 0;  ///< of the lives of the actor's threads, 0 to 1
};

/// A CPU quota that throttled the target (CpuQuota in model/cpus.h).
struct FoundQuota {
  std::string cgroup;  ///< hostile bytes
  double cpus = 0;     ///< how many may run all the time: its quota / its period
  // As in CpuQuota:
  std::uint64_t periods = 0;
  std::uint64_t throttled_periods = 0;
  double throttled_s = 0;  ///< summed over CPUs
};

/// What was read from disks again, after it had been dropped from memory (analysis/memory_reads.h).
struct FoundMemory {
  std::string cgroup;  ///< whose limit was reached; empty: the machine's memory. Hostile bytes
  // As in MemoryUse, of that cgroup or of the machine:
  std::uint64_t limit_bytes = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t reached = 0;
  // In the target's cgroups, or in the machine if the target is in none that counts it:
  bool of_all_programs = false;  ///< in the machine
  std::uint64_t refault_bytes = 0;
  /// No more than the target read that is of no file, because swap may be memory, too (zram).
  std::uint64_t swap_bytes = 0;
  std::uint64_t read_bytes = 0;  ///< all that the target's threads read from disks
  /// The part of what the target read that had been in memory before, 0 to 1: at most, as other threads of
  /// the cgroups, and the kernel's, may have read some of it. 0 if the target read nothing.
  double read_again() const;
};

/// Threads of the target that may not use all CPUs of the machine: those of them that may use the same ones,
/// and were ready to run for longest.
struct FoundPinning {
  CpuList allowed;
  std::uint32_t allowed_cpus = 0;  ///< how many of them are online
  std::uint32_t online_cpus = 0;   ///< of the machine
  std::uint32_t threads = 0;
  double runnable_s = 0;    ///< of these threads
  double allowed_busy = 0;  ///< how busy the allowed CPUs were, 0 to 1, whoever used them
  double others_busy = 0;   ///< how busy the CPUs were that they may not use
};

/// A process outside of the target that used CPU time.
struct FoundProcess {
  std::int32_t tgid = 0;
  std::string name;          ///< hostile bytes
  double own_s = 0;          ///< by its threads
  double children_s = 0;     ///< by its children that ended in the window
  bool with_target = false;  ///< its threads waited for the target, or the target for them
};

/// Why threads of the target were ready to run and had no CPU.
struct CpuSupply {
  enum class Cause : std::uint8_t {
    none,     ///< they hardly were
    unknown,  ///< the recording does not say how busy the CPUs were
    quota,    ///< a CPU quota was used up
    pinning,  ///< the CPUs that they may use were busy, the others were not
    steal,    ///< the hypervisor took the CPUs
    own,      ///< the CPUs were busy, with the target more than with all others
    others,   ///< the CPUs were busy, with others more than with the target
    bursts,   ///< the CPUs were not busy on average: threads were ready at the same moment
  };
  Cause cause = Cause::none;
  // Mean numbers of CPUs in the window. Without Recording::cpu_busy_ns all three are 0.
  double target_cpus = 0;
  double other_cpus = 0;
  double stolen_cpus = 0;
  double steal = 0;                   ///< the hypervisor's part of the CPUs' time, 0 to 1
  std::optional<FoundQuota> quota{};  ///< the one that throttled longest; none: none did
  std::optional<FoundPinning> pinning{};
  std::vector<FoundProcess> others{};  ///< that used most CPU time, most first
};
/// `none`, `unknown`, `quota`, `pinning`, `steal`, `own`, `others`, `bursts`.
std::string_view to_string(CpuSupply::Cause cause);

/// Seconds that the target's threads waited, by how far their user stacks reach.
struct StackEnds {
  double complete_s = 0;             ///< to the outermost frame
  double missing_s = 0;              ///< there is none
  std::map<StackCut, double> cut_s;  ///< without zeros
};

struct Findings {
  Recording recording;
  double window_s = 0;
  LossCounts loss;
  LostTime lost;
  Totals totals;
  CpuSupply cpu_supply;
  std::optional<FoundMemory> memory;  ///< find_memory()
  StackEnds stack_ends;
  AppliedOptions options;
  Verdict verdict;
  std::vector<FoundRuntime> runtimes;   ///< the one with most threads first
  std::vector<FoundProgress> progress;  ///< the first counts; none without AnalysisOptions::answers
  std::vector<FoundAnswer> answers;     ///< best first
  std::vector<FoundWhatIf> what_ifs;    ///< in the order asked; none if there is no progress
  std::vector<FoundActor> actors;
  std::vector<FoundEdge> edges;  ///< heaviest first
  std::vector<FoundKnot> knots;  ///< answers first, heaviest first, then background ones
  std::vector<FoundSink> sinks;  ///< saturated first, then paced, then by busy_s
  std::vector<RefinementStep> refinement;
  std::vector<FoundDisk> disks;
  std::vector<FoundNic> nics;
  FoundFalseWakeups false_wakeups;
  std::optional<HeldBack> held_back;         ///< none: none for long
  std::vector<FoundOpenWait> open_waits;     ///< longest first
  std::vector<Deadlock> deadlocks;           ///< in order of their first thread's tid
  std::vector<ExcludedWait> excluded_waits;  ///< the target's first, each longest wait first; those under the
                                             ///< noise floor are left out
  Views views;                               ///< empty without AnalysisOptions::views
  /// By ActorId of the trace that was analysed: the actor that it is, or is a member of.
  std::vector<FoundActorId> actor_of;
};

/// How busy the machine's CPUs were, 0 to 1, whoever used them; none when not known.
std::optional<double> machine_busy(const Findings& findings);

/// Sum of all counters.
std::uint64_t total_lost(const Findings& findings);

}  // namespace offwait
