// SPDX-License-Identifier: GPL-2.0-or-later
// What an analysis found, complete in itself: every renderer shows this value and nothing else. It follows
// the contract "offwait-report/1" (report/offwait-report-1.schema.json): same names, same order, seconds
// as double. Strings are as recorded, hostile bytes: the renderers escape them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/stack_cut.h"
#include "model/thread_filter.h"
#include "model/trace.h"

namespace offwait {

/// Index into Report::actors.
using ReportActorId = std::uint32_t;
/// Index into Report::edges.
using ReportEdgeId = std::uint32_t;

/// Seconds that threads spent in each state.
struct ReportTime {
  double running_s = 0;
  double runnable_s = 0;
  double blocked_s = 0;
  double unknown_s = 0;
  double lifetime_s = 0;  ///< the sum of the four
};

struct ReportTotals {
  std::uint32_t threads = 0;          ///< of the target
  std::uint32_t outside_threads = 0;  ///< recorded because they woke one of the target's
  std::uint64_t waits = 0;            ///< of all threads
  std::uint64_t preemptions = 0;
  ReportTime target;  ///< summed over the target's threads
  /// Their blocked time by the kind of what woke them: the names of ActorKind, `requests` for those from
  /// outside of the target, whoever brought them, `nobody` for waits still open at the window's end,
  /// `unknown`; without zeros.
  std::map<std::string, double> waits_for;
};

struct ReportOptions {
  double min_weight_s = 0;
  double noise_s = 0;
  bool merge = true;
  bool keep_false_wakeups = false;
  ThreadFilter filter{};
};

/// The answer in one word and one sentence.
struct ReportVerdict {
  enum class Kind : std::uint8_t {
    knot,        ///< at least one knot limits
    sink,        ///< no knot, but something saturated or paced
    background,  ///< nothing but background knots: they are shown as the answer
    cpu,         ///< no knot and nothing saturated, but it is ready to run for longer than it runs
    idle,        ///< the target waits for timers or requests, or for nothing, and hardly runs
    none,        ///< it runs a lot, but nothing is saturated and no wait limits
  };
  Kind kind = Kind::none;
  std::string sentence;
};
std::string_view to_string(ReportVerdict::Kind kind);

struct ReportActor {
  ActorKind kind = ActorKind::thread;
  std::string name;      ///< of a group: the members' common name, `*` where their digits differ
  std::int32_t tid = 0;  ///< of a group: its first member's
  std::int32_t tgid = 0;
  std::vector<std::int32_t> tids;  ///< threads and groups: one per member
  /// Likewise what their own PID namespaces call them; empty if that is what the host's does, for all of
  /// them.
  std::vector<std::int32_t> ns_tids;
  bool outside = false;
  /// A group whose members follow each other, as one virtual thread: it waits for a creator while none lives.
  bool short_lived = false;
  ReportTime time;              ///< threads: sum over the members; devices: all 0
  double open_wait_s = 0;       ///< part of blocked_s: waits still open at the window's end
  double lost_s = 0;            ///< part of unknown_s: records were lost here
  std::vector<std::string> on;  ///< disks: Actor::on
};

struct ReportStack {
  WaitClass wait_class = WaitClass::other;
  double weight_s = 0;
  double wait_s = 0;
  std::uint64_t waits = 0;
  std::vector<std::string> wait_stack;  ///< leaf first, as in Stack; empty when unknown
  std::vector<std::string> waker_stack;
};

/// The part of an edge whose waits were on sockets that this one is at the other end of.
struct ReportPeer {
  Peer::Role role = Peer::Role::service;
  std::string name;  ///< Peer::name
  std::uint64_t waits = 0;
  double wait_s = 0;
};
inline constexpr std::size_t kMostReportPeers = 64;

/// In which code threads ran, as CPU samples found it. Stacks that differ in offsets and lines only are one,
/// shown as the most frequent of them is.
struct ReportSamples {
  struct Place {
    /// Of the samples, 0 to 1. On an edge each counts as often as threads of `from` waited then, as in its
    /// seconds.
    double share = 0;
    std::uint64_t samples = 0;
    std::vector<std::string> stack;  ///< leaf first, as in Stack; empty when unknown
  };
  std::uint64_t samples = 0;
  std::uint64_t stacks_known = 0;  ///< how many there were
  std::vector<Place> stacks;       ///< the first kMostReportSampledStacks by share
};
inline constexpr std::size_t kMostReportSampledStacks = 32;

/// Most of an edge's wait time lies in a few short parts of the window (graph/phases.h).
struct ReportPhases {
  struct Range {
    double from_s = 0;  ///< since the window's begin
    double to_s = 0;
  };
  double share = 0;     ///< of the wait time, 0 to 1
  double length_s = 0;  ///< of the ranges together
  std::vector<Range> ranges;
};

/// Of the graph as built, before refinement. Edges of a group: seconds are per member of the waiting
/// group, but each_s and `waits` are of all.
struct ReportEdge {
  ReportActorId from = 0;
  ReportActorId to = 0;
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
  ReportSamples waker_samples;           ///< of `to`, at times when `from` was in a wait that it ended
  std::vector<ReportStack> stacks;       ///< by weight, heaviest first
  std::uint64_t peers_known = 0;         ///< how many there were
  std::vector<ReportPeer> peers;         ///< the first kMostReportPeers by wait_s, longest first
  std::optional<ReportPhases> phases{};  ///< none: spread over the window, or waited for less than 5 % of it
};

struct ReportKnot {
  std::vector<ReportActorId> actors;  ///< ascending
  std::vector<ReportEdgeId> edges;    ///< heaviest first
  bool background = false;
  std::string pattern;  ///< slug: "blocking-io"
  std::string pattern_title;
  std::string evidence;  ///< why this pattern; one sentence
  std::string advice;    ///< what people usually do about it; one or two sentences
  double weight_s = 0;
  double cpu_s = 0;  ///< running or runnable, summed over its threads
};

struct ReportSink {
  ReportActorId actor = 0;
  bool saturated = false;
  /// Not saturated, but runs or sleeps all the time while working threads wait for it; or they wait for a
  /// service outside of the host, which it delivers the answers of.
  bool paced = false;
  /// Threads: of the busiest member, so that it compares with the window; short-lived ones: while any of them
  /// was busy, split as their sum is.
  double running_s = 0;
  double runnable_s = 0;
  double busy_s = 0;    ///< running_s + runnable_s; devices: window × (1 − idle fraction)
  double asleep_s = 0;  ///< until a time of its own; of the member with most of running, runnable and asleep
  /// What limits it: "execution" (threads), "cpu" (threads that are runnable for longer than they run),
  /// "capacity" (devices), "remote-service" (interfaces through which a service outside of the host answers).
  std::string limit = "execution";
  double remote_s = 0;  ///< limit "remote-service": threads waited for its answers
  // Of threads that are paced; else empty.
  std::string pattern{};   ///< slug, as of a knot: "timer-driven"
  std::string evidence{};  ///< how often it slept, and how long; one sentence
  std::string advice{};
  ReportSamples samples{};  ///< of all its threads, in the whole window

  bool limits() const { return saturated || paced; }  ///< else background
};

/// One step of the search, in the order taken: what was removed from the graph and why.
struct ReportStep {
  enum class Reason : std::uint8_t {
    noise,
    to_pseudo,
    requests,
    saturated,
    apart,
    light,
    background_sink,
    background_knot,
    kept
  };
  Reason reason = Reason::noise;
  std::optional<ReportEdgeId> edge;    ///< what went: this edge,
  std::optional<ReportActorId> actor;  ///< or this actor
  double weight_s = 0;                 ///< the edge's weight, or the actor's busy time
};
std::string_view to_string(ReportStep::Reason reason);

/// What one thread (or group) had in flight at a disk.
struct ReportDiskUser {
  std::optional<ReportActorId> actor;  ///< none: nobody who was recorded
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  double service_s = 0;  ///< mean of a request, inside the window
  double in_flight = 0;  ///< mean over the window
};

/// A disk's requests as /proc/diskstats counted them and as the block tracepoints showed them.
struct ReportDiskCheck {
  std::uint64_t counted_ios = 0;
  std::uint64_t counted_bytes = 0;
  std::uint64_t seen_ios = 0;
  std::uint64_t seen_bytes = 0;
  bool mismatch = false;  ///< by more than 2 %
};

struct ReportDisk {
  ReportActorId actor = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  double busy_s = 0;
  double idle_s = 0;
  double capacity_bytes_per_s = 0;
  double capacity_ios_per_s = 0;
  CapacitySource capacity_source = CapacitySource::assumed;
  bool capacity_raised = false;  ///< to the highest rate seen
  double bytes_per_s = 0;        ///< mean over the window, as the next three
  double ios_per_s = 0;
  double service_s = 0;  ///< of a request, from its issue to its completion
  double in_flight = 0;
  std::vector<ReportDiskUser> users{};  ///< by bytes, most first
  std::optional<ReportDiskCheck> check{};
  std::string capacity_measured_on{};  ///< the day; empty: not measured, or not known
};

/// One direction of an interface.
struct ReportNicDirection {
  std::uint64_t bytes = 0;
  double bytes_per_s = 0;           ///< mean over the window
  double capacity_bytes_per_s = 0;  ///< 0: none known
  double busy_s = 0;                ///< busy and idle: both 0 without a capacity
  double idle_s = 0;
};

struct ReportNic {
  ReportActorId actor = 0;
  std::optional<CapacitySource> capacity_source;  ///< none: it has no capacity
  bool capacity_raised = false;                   ///< to the highest rate seen
  ReportNicDirection received;
  ReportNicDirection sent;
};

/// A thread that was still blocked at the window's end.
struct ReportOpenWait {
  ReportActorId actor = 0;
  std::int32_t tid = 0;
  double wait_s = 0;        ///< inside the window
  bool throughout = false;  ///< from the window's begin, or the thread's birth, to the end
  WaitClass wait_class = WaitClass::other;
  std::vector<std::string> wait_stack;
  /// Who holds the pthread mutex that it waits for, where that is known. It may be blocked as well, and is
  /// then another open wait.
  struct Holder {
    ReportActorId actor = 0;
    std::int32_t tid = 0;
    std::string name;         ///< of the thread; hostile bytes
    std::int32_t ns_tid = 0;  ///< as Actor::ns_tid
  };
  std::optional<Holder> holder{};
  /// It waits for a mutex that is held by a thread that waits for a mutex … that is held by it.
  bool deadlock = false;
};

/// A long wait that is no part of an answer, and why: people look for it.
struct ReportElsewhere {
  enum class Reason : std::uint8_t {
    leads_in,    ///< nothing in a knot (or sink) waits for the one that waits here
    to_pseudo,   ///< it waits for a time or an interrupt, not for somebody
    requests,    ///< it waits for requests from outside of the target
    saturated,   ///< who waits is busy nearly all the time
    apart,       ///< nothing in the target waits for those who wait here
    light,       ///< refinement dropped it: others in its knot weigh more
    background,  ///< one of its ends is background
    noise,       ///< under the noise floor
    no_answer,   ///< there is no knot and no sink that limits
  };
  ReportEdgeId edge = 0;
  Reason reason = Reason::no_answer;
  std::string sentence;
};
std::string_view to_string(ReportElsewhere::Reason reason);

/// Wakeups of threads that found nothing and waited again on the same futex (graph/false_wakeups.h).
struct ReportFalseWakeups {
  struct Edge {
    ReportActorId from = 0;  ///< was woken
    ReportActorId to = 0;    ///< woke it
    std::uint64_t count = 0;
  };
  bool removed = true;  ///< the waits around each are one; else they are kept apart (--keep-false-wakeups)
  std::uint64_t count = 0;
  double ran_s = 0;         ///< running time between those waits, which `removed` makes part of them
  std::vector<Edge> edges;  ///< most first
};

/// Seconds that the target's threads waited, by how far their user stacks reach.
struct ReportStackEnds {
  double complete_s = 0;             ///< to the outermost frame
  double missing_s = 0;              ///< there is none
  std::map<StackCut, double> cut_s;  ///< without zeros
};

struct Report {
  Recording recording;
  double window_s = 0;
  LossCounts loss;
  ReportTotals totals;
  ReportStackEnds stack_ends;
  ReportOptions options;
  ReportVerdict verdict;
  std::vector<ReportActor> actors;
  std::vector<ReportEdge> edges;  ///< heaviest first
  std::vector<ReportKnot> knots;  ///< answers first, heaviest first, then background ones
  std::vector<ReportSink> sinks;  ///< saturated first, then paced, then by busy_s
  std::vector<ReportStep> refinement;
  std::vector<ReportDisk> disks;
  std::vector<ReportNic> nics;
  ReportFalseWakeups false_wakeups;
  std::vector<ReportOpenWait> open_waits;  ///< longest first
  std::vector<ReportElsewhere>
      elsewhere;  ///< the target's first, each longest wait first; those under the noise floor are left out
};

/// How busy the machine's CPUs were, 0 to 1, whoever used them; none when not known.
std::optional<double> machine_busy(const Report& report);

/// Sum of all counters.
std::uint64_t total_lost(const Report& report);

}  // namespace offwait
