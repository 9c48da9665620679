// SPDX-License-Identifier: GPL-2.0-or-later
// From replayed times of groups to the gain of a progress.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "progress/progress.h"
#include "replay/lanes.h"

namespace offwait {

/// Groups that are joined by queues progress at one rate. If the replay gives them different rates, the queue
/// between them was never full, or never empty, in the recording.
struct GainBounds {
  double least = 0;  ///< all go at the rate of the slowest group that carries weight
  double most = 0;   ///< all go at the rate of the fastest one
};

/// Where a gain lies.
struct GainRange {
  double low = 0;
  double high = 0;
};

/// The range in which a gain is expected in 9 of 10 recordings. It adds up two independent errors: what
/// single `pieces` of the window predict spreads by chance (a prediction interval: the recording, and the
/// program with the change, are one sample each), and the replay itself takes the time that a change saves
/// for known to within 10 %, or to within Replayed::off if that is more, and the time that is left to within
/// 2 %. It ends by these 2 % above `most`, the most that the scenario can gain. There are at least two
/// pieces.
GainRange range_of(double gain, const std::vector<double>& pieces, double most, double off = 0);
/// Where a range ends if no change gains more than `most`: these 2 % above it.
double range_end(double most);

/// How much each group's speed counts among those of its part, by GroupId: its weight (weights_of()). Threads
/// that are started anew for each piece of work count nothing: they progress as often as they are started,
/// and how long one lives does not show that. They are groups whose threads live for under half of the
/// window, on average.
std::vector<double> weights_of_speeds(const Trace& trace, const ThreadGroups& groups, const Uses& uses);

/// How many times as fast a scenario makes each group, by GroupId, in the whole window. Where the end of a
/// command is the progress, the whole target is as many times as fast as that.
std::vector<double> speeds_of(const Progress& progress, const Replayed& replayed, const ThreadGroups& groups,
                              std::size_t scenario);

/// Whether any group of the progress did anything in the pieces [from, to) of the window. If none did, they
/// say nothing of a gain: a target may end, with a change, before they begin.
bool goes_on(const Progress& progress, const Replayed& replayed, std::size_t scenario, std::size_t from,
             std::size_t to);

/// The mean of the parts' gains in the pieces [from, to) of the window, weighted by the parts' weights.
/// `weights` are weights_of_speeds(). The end of a command gains by its time in the recording ÷ its time now,
/// minus 1, whatever the pieces: it happens once, and pieces of it are different work.
GainBounds gain_of(const Progress& progress, const Replayed& replayed, const std::vector<double>& weights,
                   std::size_t scenario, std::size_t from, std::size_t to);

/// The gains of the parts of an inferred progress that gain least and most, in the whole window, of those
/// that carry weight. How much each of them counts is a guess, unlike counted units of work. None if it is no
/// such progress.
std::optional<GainRange> gains_of_parts(const Progress& progress, const Replayed& replayed,
                                        const std::vector<double>& weights, std::size_t scenario);

/// As gain_of() for the whole window. `speeds`, by GroupId, are how many times as fast the groups are.
GainBounds gain_of_speeds(const Progress& progress, const std::vector<double>& speeds,
                          const std::vector<double>& weights);

}  // namespace offwait
