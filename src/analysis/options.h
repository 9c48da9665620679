// SPDX-License-Identifier: GPL-2.0-or-later
// What a user can ask of the analysis.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/nanos.h"
#include "model/thread_filter.h"
#include "progress/progress.h"
#include "replay/what_if.h"

namespace offwait {

/// What an analysis does, mostly one after the other.
enum class AnalysisStep : std::uint8_t {
  waits,   ///< groups of threads, kinds of waits, locks, progress
  replay,  ///< with changes; left out without AnalysisOptions::answers
  sweep,   ///< weights, after false wakeups were removed
  graph,   ///< with all that is found in it
};

struct AnalysisOptions {
  double min_weight = 0.20;            ///< --min-weight as a part of the window, ≥ 0
  std::optional<Nanos> min_weight_ns;  ///< --min-weight as a duration: counts instead, when given
  double noise = 0.01;                 ///< --noise: part of the window, ≥ 0
  bool merge = true;                   ///< similar threads become one actor
  bool keep_false_wakeups = false;     ///< the waits around a false wakeup stay two
  bool answers = true;                 ///< replay the trace for Findings::answers, which takes longer
  bool views = false;                  ///< rank functions and threads for Findings::views
  bool function_gains = false;         ///< with what faster functions would gain, which takes longer
  ProgressOptions progress{};          ///< whose progress the answers are for
  std::vector<WhatIf> what_ifs{};      ///< for Findings::what_ifs
  ThreadFilter filter{};               ///< what the trace was made with_target() of: said in the report
  /// Is told of each step as it begins, by one thread at a time, though not always the same one.
  std::function<void(AnalysisStep)> begins = [](AnalysisStep) {};
};

/// The part of a window in ns: rounded, at least 0, at most kNever.
Nanos part_of(double fraction, Nanos window);
/// --min-weight in ns, whichever way it was given.
Nanos min_weight_of(const AnalysisOptions& options, Nanos window);

}  // namespace offwait
