// SPDX-License-Identifier: GPL-2.0-or-later
// From replayed times of groups to the gain of a progress.
#pragma once

#include <cstddef>
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

/// The mean of the parts' gains in the pieces [from, to) of the window, weighted by the parts' weights.
/// `weights` is by GroupId.
GainBounds gain_of(const Progress& progress, const Replayed& replayed, const std::vector<double>& weights,
                   std::size_t scenario, std::size_t from, std::size_t to);

}  // namespace offwait
