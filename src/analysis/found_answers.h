// SPDX-License-Identifier: GPL-2.0-or-later
// The part of the findings that says whose progress counts, and which changes would gain it how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/found_files.h"
#include "analysis/found_ids.h"
#include "analysis/found_samples.h"
#include "analysis/runtime_parts.h"
#include "code/kernel.h"
#include "model/backtrace.h"
#include "model/peer.h"
#include "progress/locks.h"
#include "progress/progress.h"
#include "progress/runtimes.h"
#include "replay/answers.h"

namespace offwait {

/// A kind of progress that the user of the program may want more of.
struct FoundProgress {
  /// Threads that are called alike.
  struct Threads {
    std::string name;  ///< hostile bytes
    std::size_t count = 0;
  };
  std::vector<Threads>
      threads;  ///< the target's or, of How::clients without addresses, those that are answered
  Progress::How how = Progress::How::inferred;
  std::vector<FoundActorId> actors;      ///< ascending
  std::optional<double> per_s;           ///< how often it is made; none when not known
  double share = 0;                      ///< of the hand-overs and waits of all threads, 0 to 1
  std::vector<std::string> functions{};  ///< whose calls count: Progress::functions
  // These are known only where responses to clients were counted (Progress):
  std::optional<std::uint64_t> connections{};
  bool clients_stay = true;  ///< connections got several responses each, on average
  std::optional<Requests> requests{};
  std::vector<ServedAddress> addresses{};  ///< the one with most responses first
  /// Progress::How::end: when the command ended, since the window's start, where it began.
  std::optional<double> end_s{};
  /// The time from the first to the last response, to which `per_s` and the gains refer, if that is clearly
  /// less than the window.
  std::optional<double> active_s{};
};

/// A runtime that runs tasks in the target's threads.
struct FoundRuntime {
  Runtime runtime = Runtime::none;
  std::size_t threads = 0;  ///< of the target
};

/// Others than the threads that an answer names are told of if they took more than this part of its time.
inline constexpr double kOthersMatter = 0.05;

/// What a part took in the recording, and where: what its gain rests on.
struct AnswerEvidence {
  /// Waits of all threads for one file.
  struct File {
    FoundFileName name;
    double wait_s = 0;
  };
  double time_s = 0;        ///< all threads: ran; waited; for more CPUs: was ready to run without one
  std::uint64_t waits = 0;  ///< that make up time_s; 0 for CPU work and more CPUs
  std::size_t threads = 0;  ///< how many threads take most of time_s: the answer's group, or the one below
  std::optional<FoundActorId> actor{};  ///< the one with most of these threads
  Backtrace stack;                      ///< where that group waits longest; empty when unknown
  double stack_s = 0;                   ///< the part of time_s waited there
  ActionTimes actions{};                ///< a disk: all of its waits, by what the threads asked of it
  std::vector<File> files{};            ///< a disk: what they are for; the longest first, three at most
  bool fixed_rate = false;              ///< sleeps: PartUse::fixed_rate
  double share = 0;                     ///< waits: the part of that group's time that it waited, 0 to 1
  FoundSamples samples{};               ///< CPU work: where it runs
  double cpus = 0;                      ///< more CPUs: UsableCpus::usable()
  std::uint32_t pinned_to = 0;          ///< more CPUs: UsableCpus::pinned_to
  double quota = 0;                     ///< more CPUs: UsableCpus::quota
  /// A group outside of the target: threads of the target wait longer until it has taken what they write (to
  /// a pipe or a socket that is full) than for anything else from it.
  bool takes_output = false;
  std::size_t alike = 0;             ///< how many of `threads` are in other actors than `actor`
  std::string name{};                ///< what these threads have in common: `worker-*`; hostile bytes
  KnownWork work = KnownWork::none;  ///< CPU work: what a fifth of its samples or more show
  Runtime runtime = Runtime::none;   ///< CPU work: whose tasks these threads run
  std::int32_t tid = 0;              ///< of the first of them, which is in no other group; 0 without a group
  double others_s = 0;               ///< the part of time_s that other threads took

  /// The part of time_s that these threads took.
  double own_s() const { return time_s - others_s; }
  /// Whether it is worth a word that others took a part.
  bool others_matter() const { return others_s > kOthersMatter * time_s; }
};

/// A lock that an answer is about, or that its threads hold and wait for.
struct FoundLock {
  std::string name;   ///< names_of_locks(); hostile bytes
  double wait_s = 0;  ///< all waits for it together
  std::uint64_t waits = 0;
  double share = 0;  ///< the part of the lives of the group that holds it that these waits are, 0 to 1
  Backtrace stack;   ///< where that group waits for it longest; empty when unknown
  std::optional<Gain> held{};  ///< LockGain::held
  double free_gain = 0;        ///< the most that it gains if no thread waits for it
  Full full = Full::nothing;   ///< at free_gain
  std::optional<FoundActorId> full_disk{};
  std::string full_lock{};  ///< as `name`; empty: none
  LockEvidence evidence = LockEvidence::name;
  RuntimeLock runtime = RuntimeLock::none;
  std::vector<FoundProgress::Threads> waiters{};  ///< those that waited longest first
  bool outside = false;                           ///< no thread of the target waits for it or holds it
  std::vector<FoundProgress::Threads> holders{};  ///< those that held it longest first, as far as is known
  /// What its holders did while they held it, as parts of that time, 0 to 1. They add up to 1, or are all 0
  /// where it is not known who held it.
  double ran = 0;
  double no_cpu = 0;  ///< was ready to run, without a CPU
  double slept = 0;
  double at_disks = 0;
  double for_remote = 0;
  double for_clients = 0;  ///< waited for a client of the target
  double for_others = 0;   ///< waited for other threads, or it is not known what for
};

/// A service that the target asks and that is no part of it.
struct FoundService {
  std::vector<Peer> peers;  ///< where it is asked, the one that is waited for longest first
  /// The threads that answer. If there are none, the service is on another host, or the senders of its
  /// packets could not be followed.
  std::vector<FoundProgress::Threads> threads{};
  std::vector<FoundActorId> actors{};  ///< these threads, ascending
  /// What they did while they were waited for, as parts of that time, 0 to 1. They add up to 1, or are all 0
  /// where nobody is known to answer. ServiceUse says more.
  double ran = 0;
  double runnable = 0;
  double slept = 0;
  double at_disks = 0;
  double for_remote = 0;
  double for_others = 0;
  double for_requests = 0;
  double unknown = 0;
  std::optional<FoundActorId> disk{};  ///< the one that takes most of at_disks
};

/// Which side has a limit on the requests that are under way at a time. It is told by where most of the
/// requests that wait were seen.
enum class LimitedBy : std::uint8_t {
  unknown,  ///< what the service has in its sockets is not known
  target,   ///< the target keeps them back
  service,  ///< they lie unread in the service's sockets
};
/// `unknown`, `target`, `service`.
std::string_view to_string(LimitedBy by);

/// The two parts of an answer about calls that make sure of what is on a disk.
struct FoundSyncs {
  /// `fsync`, `fdatasync`, or a write that the kernel syncs at once: the one that is waited in longest first
  std::vector<std::string> calls{};
  double ran_s = 0;  ///< all threads, in these calls; evidence.time_s is their waits
  Gain cpu{};        ///< half of the CPU time in these calls alone
  Gain disk{};       ///< half of the waits for disks in these calls alone
};

/// Waits in which the kernel holds threads back.
struct FoundPause {
  KernelPause why = KernelPause::unknown;  ///< as far as the stack of the longest tells
  double served_s = 0;        ///< the part of evidence.time_s in which the disk had requests under way
  bool disk_matters = false;  ///< served_s is_much() of evidence.time_s
};

/// A program's threads, other than those that wait longest for what an answer changes, that have a fifth or
/// more of the disk's time with requests.
struct OtherDiskUser {
  FoundActorId actor = 0;
  double part = 0;  ///< of the time that all requests were under way, added up, 0 to 1
};

/// What a progress would gain if one part were twice as fast.
struct FoundAnswer : Gain {
  Resource what = Resource::cpu;
  std::optional<FoundActorId> actor{};   ///< whose CPU work, requests, sleeps or waits for the service
  std::optional<FoundActorId> device{};  ///< the disk
  std::size_t progress = 0;              ///< index into Findings::progress
  std::optional<std::size_t> knot{};     ///< the first in which threads wait for the part
  AnswerEvidence evidence{};
  std::optional<FoundService> service{};  ///< remote: which one
  /// If the answer is about a lock: that lock. If it is about CPU work: the lock of its threads that gains
  /// most, if one gains anything.
  std::optional<FoundLock> lock{};
  std::optional<FoundSyncs> syncs{};
  std::optional<FoundPause> pause{};
  std::optional<MoreThreads> more{};          ///< as Answer::more
  LimitedBy limit = LimitedBy::unknown;       ///< of more threads, or requests, at a time
  std::optional<OtherDiskUser> other_user{};  ///< of a disk that is faster for all
  /// About waits for syncs: one sync serves several threads already (KnotReleases::served_at_disk, or the
  /// pattern group commit). False where tasks of a runtime wait for each other without the kernel.
  bool shares_syncs = false;
};

/// What the first progress would gain by changes that the user asked about.
struct FoundWhatIf : Gain {
  std::string asked;  ///< in the user's words
};

}  // namespace offwait
