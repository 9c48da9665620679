// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks as Brendan Gregg's flame graphs want them: `frame;frame;frame COUNT`, one distinct stack a line.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/trace.h"
#include "report/fold.h"

namespace offwait {

enum class FoldedKind : std::uint8_t {
  off_cpu,   ///< `comm;root;…;leaf`: where the target's threads waited
  off_wake,  ///< the same, then `;--;leaf;…;root;comm`: and for whom, and where that one woke them
  on_cpu,    ///< `comm;root;…;leaf`: where they ran, by CPU samples
};

enum class FoldedWeight : std::uint8_t {
  wait,    ///< how long they waited, µs
  weight,  ///< weight of these waits (wPerf's local impact, as in the report's edges), µs
};
// Samples are counted one by one.

struct FoldedOptions {
  FoldedKind kind = FoldedKind::off_cpu;
  FoldedWeight weight = FoldedWeight::wait;
  /// `folded`: without the kernel's ways to the scheduler, either, as in the text.
  StackNoise noise = StackNoise::folded;
  bool keep_false_wakeups = false;  ///< as AnalysisOptions
};

/// In alphabetical order, without zeros. Only threads of the target, one by one; comm is a thread's name. A
/// waker that is no thread is `disk vda`, `timer` or the like; `[nobody seen]` stands for an unknown one, and
/// that of a wait which is still open. Frames have neither offset nor line. Text is escaped, `;` in it
/// becomes `:`, and a space before a number at its end `_`: flamegraph.pl takes such for a second count.
/// Errors as of analyse().
Result<std::string> to_folded(Trace trace, const FoldedOptions& options);

}  // namespace offwait
