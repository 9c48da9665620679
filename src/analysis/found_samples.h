// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "model/backtrace.h"

namespace offwait {

/// The code that threads ran, as CPU samples found it. Stacks that differ in offsets and lines only are added
/// up; the most frequent one of them is shown.
struct FoundSamples {
  struct Place {
    /// The part of the samples that were taken here, 0 to 1. On an edge a sample counts once for each thread
    /// of `from` that waited then, so that shares compare with the edge's seconds.
    double share = 0;
    std::uint64_t samples = 0;
    Backtrace stack;  ///< empty when unknown
  };
  std::uint64_t samples = 0;
  std::uint64_t stacks_known = 0;  ///< how many there were
  std::vector<Place> stacks;       ///< the first kMostSampledStacks by share
};

}  // namespace offwait
