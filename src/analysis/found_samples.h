// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/backtrace.h"
#include "model/frame.h"

namespace offwait {

/// A function that says where time went (analysis/code_places.h). Its parts count each sample as
/// FoundSamples::Place does, and once, however often the function is in its stack.
struct FunctionPlace {
  /// Frames as of function_of(): the function, and from where most of it was called, three callers at most.
  Backtrace stack;
  double share = 0;           ///< with callees: the part of all samples that have it in their stack, 0 to 1
  std::uint64_t samples = 0;  ///< how many these are
  double own = 0;     ///< the part of `share` in which it was the innermost function, in the kernel or not
  double kernel = 0;  ///< the part of `share` in the kernel
  /// The system call that most of `kernel` was in, or `page faults`; empty: neither, or not known.
  std::string entered_by{};
  std::optional<Frame> callee{};  ///< a function that it called, with more than half of `share`
  double callee_share = 0;        ///< the part of `share` in `callee`
};

/// The code that threads ran, as CPU samples found it. Stacks that differ in offsets and lines only are added
/// up; the most frequent one of them is shown, without functions that the clock samples late
/// (code/kernel.h).
struct FoundSamples {
  struct Place {
    /// The part of the samples that were taken here, 0 to 1. On an edge a sample counts once for each thread
    /// of `from` that waited then, so that shares compare with the edge's seconds.
    double share = 0;
    std::uint64_t samples = 0;
    Backtrace stack;  ///< empty when unknown
  };
  std::uint64_t samples = 0;
  std::uint64_t stacks_known = 0;       ///< how many there were
  std::vector<Place> stacks;            ///< the first kMostSampledStacks by share
  std::vector<FunctionPlace> places{};  ///< of all stacks, also of those left out; the largest first
  /// `places` is empty, because no function that does something of its own has a fifth of the samples.
  bool spread = false;
  std::optional<Frame> spread_below{};  ///< the innermost function that calls nearly all of it
};

}  // namespace offwait
