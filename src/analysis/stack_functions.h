// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of a stack for tables: without how threads are started, and how they wait inside of libc.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/noise.h"
#include "model/trace.h"

namespace offwait {

using FunctionId = std::uint32_t;  // index into StackFunctions::all

/// The functions of a trace, and those of each of its stacks. The trace must outlive it.
class StackFunctions {
 public:
  explicit StackFunctions(const Trace& trace);

  /// The frames of one stack that say something, innermost first; the first is where time counts as a
  /// function's own. A function may come twice. A stack without user frames has the system call, or the
  /// kernel thread's function.
  std::vector<FrameId> frames_of(StackId id) const;
  /// Whether the frame is the program's, and no library's.
  bool is_own(FrameId frame) const { return noise_[frame] == Noise::none; }
  bool is_library(FrameId frame) const { return noise_[frame] == Noise::library; }
  FunctionId of(FrameId frame) const { return function_of_[frame]; }

  std::vector<Frame> all;  ///< by FunctionId: as of function_of(), and not inlined

 private:
  const Trace& trace_;
  std::vector<FunctionId> function_of_;  ///< by FrameId
  std::vector<Noise> noise_;             ///< by FrameId
};

}  // namespace offwait
