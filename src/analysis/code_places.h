// SPDX-License-Identifier: GPL-2.0-or-later
// Which functions say where time on CPUs went: those with a fifth of it or more, by what they do themselves
// and what they call.
#pragma once

#include <vector>

#include "analysis/found_samples.h"
#include "analysis/sampled_code.h"
#include "graph/cpu_samples.h"
#include "model/trace.h"

namespace offwait {

/// Sets `places`, or `spread` and `spread_below`. All stacks count, none is left out before.
///
/// A function is heavy if a fifth of the samples have it in their stacks. A place is a heavy function
/// - that calls no heavy one, unless it is a root: outside of it is less than a fifth of all. main(), an
///   event loop, and what starts a thread are such;
/// - or that is innermost in a fifth of the samples itself.
/// They are in order of these amounts. A function without a name stands for the one with a name that calls it
/// in the same module, if that is no root.
///
/// O(frames of all stacks), and times a logarithm.
void find_code_places(const Trace& trace, const SampledCode& code, const std::vector<StackSamples>& samples,
                      FoundSamples& out);

}  // namespace offwait
