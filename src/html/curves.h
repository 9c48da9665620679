// SPDX-License-Identifier: GPL-2.0-or-later
// What answers would gain if their parts were made faster by other factors than two: made beforehand, as a
// page can replay nothing.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "analysis/findings.h"
#include "model/trace.h"
#include "progress/progress.h"
#include "replay/gain.h"

namespace offwait::html {

/// How many times as fast; one of them is 2, for which the answer itself stands.
inline constexpr std::array<double, 5> kCurveFactors = {1.25, 1.5, 2, 3, 4};

/// By index into Findings::answers: what it gains at each of kCurveFactors. Empty for an answer that a page
/// does not show or whose number is not known, where no question can name the part (it can name CPU work,
/// sleeps, disks, services and CPUs), and where the number at a factor is not known.
using Curves = std::vector<std::vector<Gain>>;

/// Replays the trace, which is that of the findings as it was recorded.
Curves curves_of(const Findings& findings, const Trace& trace, const ProgressOptions& progress);

}  // namespace offwait::html
