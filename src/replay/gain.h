// SPDX-License-Identifier: GPL-2.0-or-later
// What a change would gain, and how far that can be relied on.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace offwait {

/// How far a gain can be relied on.
enum class Certainty : std::uint8_t {
  sure,
  split,  ///< what limits depends on whose progress counts
  rough,  ///< neither the number nor the order may hold
  up_to,  ///< it may be less: what limits next did not show, or the doubt says why, and it may be nothing
  approximate,  ///< it gains something, and the doubt says why not more is known; or threads run tasks of a
                ///< runtime in turns (Runtime): a wait holds up more than one task, or less
};
std::string_view to_string(Certainty certainty);

/// Why a gain is rough, approximate, or known by its most alone.
enum class Doubt : std::uint8_t {
  none,
  pieces_differ,      ///< range_of() is wider to one side than kWidestRange of the gain
  unknown_wakers,     ///< it is unknown what ended much of the waiting
  guessed_locks,      ///< much of the waiting was taken for locks without a function's name that says so
  cpus_short,         ///< and the simulation does not reproduce the recording
  many_at_once,       ///< threads that waited for a service waited for many connections at once
  few_samples,        ///< what a function takes on a CPU is known from too few samples
  no_order,           ///< threads of several groups compete for locks
  not_simulated,      ///< the number of CPUs is changed, and the simulation does not reproduce the recording
  looked,             ///< for much of the time threads looked again and again whether a lock was free
  simulated_roughly,  ///< the simulation of the CPUs reproduces the recording, but not within 10 %, or not
                      ///< well enough for a narrow range
  parts_differ,       ///< threads that do not work for one another gain differently by it
  held_back,          ///< TCP held back packets of the service: when they come is not its doing alone
  unanswered,         ///< the target responded on less than half as many connections as a client had
  throttled,          ///< threads sleep while another one is behind, as far as the recording shows
  batches,            ///< a thread serves several requests at once, and more at once if these come sooner
  gave_up,            ///< threads gave up waiting after a time: what others did for them was in vain
  fixed_rate,         ///< threads go on at a fixed rate, and what they do when they are late is not known
  sleeps_vary,        ///< what decides how long, or how often, threads sleep is not known
  queues_change,      ///< how much shorter queues for CPUs or disks get is not known
  others_have_cpus,   ///< how long threads queue for CPUs is other programs' doing
  left_out,           ///< calls of functions are hardly made any more: others may find more to do, or less
  pace_unseen,        ///< how fast the rest goes on when nothing is held back did not show
  lost_events,        ///< too much of the target's time is unknown, because records were lost (LostTime)
};
/// `pieces-differ`, `lost-events`, …; empty for none.
std::string_view to_string(Doubt doubt);

/// What gains less is not worth an answer.
inline constexpr double kWorthAnAnswer = 0.01;
/// Gains that differ by no more than this are alike.
inline constexpr double kAlike = 0.05;
/// A range says something if it is no wider to either side than this part of the gain.
inline constexpr double kWidestRange = 0.5;

/// What a scenario would gain: throughput of a progress with it, minus 1.
struct Gain {
  double gain = 0;
  std::optional<double> low;   ///< range_of() the gain; a lock has none, nor has a gain that is in doubt
  std::optional<double> high;  ///< the same, but a lock has LockBound::without_section
  Certainty certainty = Certainty::sure;
  Doubt doubt = Doubt::none;  ///< none of a sure one
};

/// The most that the change gains, as far as is known. This is the number of a gain that is a bound.
double most_of(const Gain& gain);

/// Makes the gain a bound without a range, unless it is rough for a reason besides what pieces show: the
/// change may gain less.
void make_bound(Gain& gain);

/// Leaves the gain no more than its place among others, at `about`, for this reason. What gains too little
/// for an answer becomes a bound.
void make_rough(Gain& gain, double about, Doubt doubt);

/// Lets the range of a bound end at `most`: a bound is what a change can gain at all, and not what a run may
/// show by chance. Other gains stay as they are.
void cap_bound(Gain& gain, double most);

}  // namespace offwait
