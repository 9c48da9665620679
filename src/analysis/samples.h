// SPDX-License-Identifier: GPL-2.0-or-later
// In which code threads ran: samples of stacks that differ in offsets and lines only are added up.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/findings.h"
#include "analysis/sampled_code.h"
#include "graph/cpu_samples.h"
#include "model/trace.h"

namespace offwait {

/// The stacks with most samples first, each as the most frequent of those that call the same functions; and
/// the places of all of them (code_places.h).
FoundSamples sum_places(const Trace& trace, const SampledCode& code,
                        const std::vector<StackSamples>& samples);

}  // namespace offwait
