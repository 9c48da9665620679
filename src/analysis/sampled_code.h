// SPDX-License-Identifier: GPL-2.0-or-later
// The functions in the stacks of CPU samples, as places in code are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/stack_functions.h"
#include "model/trace.h"

namespace offwait {

struct SampledCode {
  std::vector<Frame> functions;         ///< by FunctionId: as of function_of(), and not inlined
  std::vector<std::uint32_t> place_of;  ///< by FrameId: as of functions_of_frames()
  std::vector<std::uint32_t> late;      ///< by StackId: sampled_late() of its frames
  /// By StackId, for stacks of samples: the functions that StackFunctions leaves, innermost first, of each
  /// library only what the program calls; of a kernel thread, its kernel functions.
  std::vector<std::vector<FunctionId>> paths;
  std::vector<bool> in_kernel;          ///< by StackId: the sample was in the kernel
  std::vector<std::string> entered_by;  ///< by StackId: entered_by() of its frames
};
SampledCode sampled_code(const Trace& trace);

}  // namespace offwait
