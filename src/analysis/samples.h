// SPDX-License-Identifier: GPL-2.0-or-later
// In which code threads ran: samples of stacks that differ in offsets and lines only are added up.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/findings.h"
#include "graph/cpu_samples.h"
#include "model/trace.h"

namespace offwait {

/// By FrameId: equal for all places of one function.
std::vector<std::uint32_t> functions_of_frames(const Trace& trace);

/// `functions` as of functions_of_frames(). The places with most samples first; a place is shown as the most
/// frequent of its stacks.
FoundSamples sum_places(const Trace& trace, const std::vector<std::uint32_t>& functions,
                        const std::vector<StackSamples>& samples);

}  // namespace offwait
