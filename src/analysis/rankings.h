// SPDX-License-Identifier: GPL-2.0-or-later
// Orders and sums over findings that every renderer shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// Actors with lost records, the longest lost time first.
std::vector<FoundActorId> actors_with_losses(const Findings& findings);

/// The target's actors that were ready to run without a CPU, the longest first.
std::vector<FoundActorId> actors_by_runnable(const Findings& findings);
/// Whether one of these was ready to run, without a CPU, for a twentieth of its life or more.
bool somebody_lacks_cpus(const Findings& findings);
/// Whether what CPUs the target lacks holds it up: threads lack them for much of their time, or more CPUs
/// would gain much, or nobody can say how much.
bool lack_of_cpus_matters(const Findings& findings);
/// Whether it does, and other programs have most of these CPUs.
bool others_have_the_cpus(const Findings& findings);

/// Wait classes with their seconds, as edges and the evidence of knots have them, the longest first.
std::vector<std::pair<WaitClass, double>> classes_by_time(const std::map<WaitClass, double>& classes);

/// What ended the waits of the target, with the seconds, the longest first.
std::vector<std::pair<BlockedBy, double>> blockers_by_time(const Totals& totals);

/// Why user stacks are cut, with the seconds waited in such stacks, the longest first.
std::vector<std::pair<StackCut, double>> cuts_by_time(const StackEnds& ends);

/// Seconds of the target's waits, whatever their stacks.
double all_s(const StackEnds& ends);

/// Bytes that all users of a disk sent and asked for.
std::uint64_t bytes_of_users(const FoundDisk& disk);

/// Long waits of the target outside of the knots: they come first in Findings::excluded_waits.
std::size_t excluded_waits_of_target(const Findings& findings);

/// Edges under the noise floor that the search set aside, and their weights together.
struct NoiseSum {
  std::size_t edges = 0;
  double weight_s = 0;
};
NoiseSum noise_of(const std::vector<RefinementStep>& steps);

/// The actors of a knot in order of waiting, if each waits for exactly one other and there are at most `most`
/// of them; else fewer than the knot has.
std::vector<FoundActorId> simple_cycle(const Findings& findings, const FoundKnot& knot, std::size_t most);

/// A gain of less than this is no fix that anybody would make for it alone.
inline constexpr double kWorthAFix = 0.2;
/// An answer with a smaller gain is not worth showing.
inline constexpr double kWorthALine = 0.02;

/// The answers without those that say the same as one before: the same part for another progress, or a
/// group's requests to a disk and the disk itself with gains that are alike (kAlike), or if no other
/// threads use it. Best first.
std::vector<const FoundAnswer*> distinct_answers(const Findings& findings);

/// Those of `all`, best first, that the first screen has room for: four at most, and each is worth a line. A
/// rough one has a place, but no number.
std::vector<const FoundAnswer*> first_answers(const std::vector<const FoundAnswer*>& all);

/// Why a recording is too short for a prediction.
enum class ShortEvidence : std::uint8_t {
  none,
  window,  ///< under a second
  waits,   ///< so few that a rate is off by more than a tenth by chance, and no thread computes all the time
  end,     ///< the command, whose end counts, took less than a tenth of a second
};
ShortEvidence short_evidence(const Findings& findings);

/// There are answers, and they rest on enough.
bool answers_can_be_judged(const Findings& findings);
/// Whether everything that gains 1 % or more, or has no number, is among the findings' answers.
bool has_all_answers(const Findings& findings);

/// What is known of the disk; nullptr for an actor that is not a disk.
const FoundDisk* disk_of(const Findings& findings, FoundActorId actor);

/// A thread waited throughout for a mutex whose holder is known, or there is a deadlock.
bool somebody_is_stuck(const Findings& findings);

}  // namespace offwait
