// SPDX-License-Identifier: GPL-2.0-or-later
// Sampled stacks, grouped to the few places that a reader looks at.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "report/fold.h"

namespace offwait {

struct SampledPlace {
  double share = 0;
  Backtrace stack;  ///< the most frequent one, as in FoundSamples
};

/// By the innermost function that a folded stack shows of the program (fold.h; of a kernel thread: of the
/// kernel): whatever is called from it, and whoever calls it. Most first. Stacks without frames are no place.
std::vector<SampledPlace> code_places(const FoundSamples& samples, StackNoise noise = StackNoise::folded);

}  // namespace offwait
