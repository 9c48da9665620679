// SPDX-License-Identifier: GPL-2.0-or-later
// Orders and sums over findings that every renderer shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// Actors with lost records, the longest lost time first.
std::vector<FoundActorId> actors_with_losses(const Findings& findings);

/// The target's actors that were ready to run without a CPU, the longest first.
std::vector<FoundActorId> actors_by_runnable(const Findings& findings);

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

}  // namespace offwait
