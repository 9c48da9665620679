// SPDX-License-Identifier: GPL-2.0-or-later
// Which change would gain most, for the progress that counts.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/trace.h"
#include "progress/facts.h"
#include "progress/lock_holds.h"
#include "replay/disk_channels.h"
#include "replay/gain.h"
#include "replay/lock_bounds.h"
#include "replay/more_threads.h"
#include "replay/part_use.h"
#include "replay/scenario.h"
#include "replay/syncs.h"
#include "replay/usable_cpus.h"

namespace offwait {

/// What changes to one lock would gain.
struct LockGain {
  Lock lock{};
  LockId id = kNoLock;
  LockBound waited{};  ///< at most, if no thread waits for it
  /// What threads do while they hold it takes half as long: never more than `waited`. Nothing where they
  /// mostly wait for others meanwhile (a client in its transaction, another lock): what these do is no part
  /// of it.
  std::optional<Gain> held{};
};

struct Answer : Gain {
  /// This part twice as fast; of `cpus`, more_cpus(); of `waited`, no thread waits for the lock.
  Change change;
  std::size_t progress = 0;  ///< index into Answers::progress
  PartUse use{};             ///< what the gain rests on
  /// If the answer is about a lock: that lock. If it is about CPU work: the lock of its group that gains
  /// most, if one gains anything.
  std::optional<LockGain> lock{};
  std::optional<SyncGain> syncs{};  ///< of an answer about these calls
  /// What more threads would gain, if others queue for those that do this part and that gains more.
  std::optional<MoreThreads> more{};
};

struct Answers {
  std::vector<Progress> progress;  ///< the first counts; the others may be meant
  /// Best first; answers for other kinds of progress follow the first one. Those that gain less than 1 % are
  /// left out, but not rough ones, whose number is not known.
  std::vector<Answer> answers;
  std::vector<Gain> asked;  ///< parallel to AnswerOptions::asked, for the first progress
  /// The most that halving its CPU work gains for any of the kinds of progress, by GroupId; of a group behind
  /// a service, a service that is twice as fast; 0 for a group that hardly runs. Empty without progress.
  std::vector<double> cpu_gains;
  std::vector<Service> services;       ///< that the target asks, by ServiceId
  std::vector<DiskChannels> channels;  ///< by ActorId; empty without progress
  UsableCpus cpus;
  bool cpus_short = false;
  bool simulated = false;  ///< the gains come from a simulation of the CPUs that reproduces the recording
};

struct AnswerOptions {
  std::vector<Scenario> asked{};
  std::vector<CodeStacks> code{};  ///< what Change::code of `asked` refers to, and `syncs`
  /// Calls that make sure of what is on a disk. Where answers about a disk are mostly about these calls, and
  /// one about CPU work is, too, or the CPU work of the calls has much of what they gain, all of that is one
  /// answer, of Resource::sync, if the disk alone does not gain more.
  CodeId syncs = kNoCode;
  std::size_t most_candidates = 40;
  std::size_t most_answers = 10;
};

/// Replays the trace with each part that takes time made twice as fast. Gains come from lanes or, where the
/// CPUs are short or their number is changed, from the simulation, if that reproduces the recording;
/// else they are rough. The ranges allow for what the simulation is off; beyond 10 % a gain is approximate.
/// No gain needs more of the CPUs, or of a disk, than there is (Room): one that would is "up to" what fits.
/// What a lock gains is a bound (LockBounds); it is ranked by what the replay shows of it.
/// The trace must satisfy validate().
/// `facts` are those of the trace.
Answers answers_of(const Trace& trace, const Facts& facts, const AnswerOptions& options);

}  // namespace offwait
