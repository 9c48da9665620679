// SPDX-License-Identifier: GPL-2.0-or-later
// Functions and threads ranked: time on CPUs and in waits in one table (Ahn et al., "Identifying On-/Off-CPU
// Bottlenecks Together with Blocked Samples", OSDI '24), and by GAPP's criticality.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/code_uses.h"
#include "analysis/criticality.h"
#include "analysis/views.h"
#include "model/trace.h"
#include "progress/progress.h"
#include "progress/thread_groups.h"
#include "replay/answers.h"

namespace offwait {

/// How many functions get gains: first rows, which have most time of their own, and other functions whose
/// callees have most of what is critical.
inline constexpr std::size_t kFunctionsWithGains = 20;
inline constexpr std::size_t kCallersWithGains = 10;

/// Ranked by the time of the threads that make the first progress, and of those that they wait for. Waits for
/// requests are set aside. Without gains. O(waits + samples + frames of all stacks), times a logarithm.
FoundFunctions functions_of(const Trace& trace, const ThreadGroups& groups, const CodeUses& uses,
                            const Criticality& criticality);

/// A scenario, and the row and part whose gain it tells.
struct AskedGain {
  std::size_t scenario = 0;  ///< index into AnswerOptions::asked
  std::size_t row = 0;
  std::optional<Gain> FoundFunction::*gain = nullptr;
};

/// Adds scenarios to AnswerOptions::asked: each of these functions twice as fast, and each part of it; not
/// its CPU work where there are too few samples of it.
std::vector<AskedGain> ask_for_gains(const Trace& trace, const FoundFunctions& functions,
                                     AnswerOptions& options);
/// Adds what the answers say of them.
void add_gains(const std::vector<AskedGain>& asked, const Answers& answers, FoundFunctions& functions);

FoundThreads critical_threads(const Trace& trace, const CodeUses& uses, const Criticality& criticality);

}  // namespace offwait
