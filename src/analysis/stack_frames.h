// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// The frames of a stack, leaf first; empty for kNoStack.
inline std::vector<std::string> frames_of(const Trace& trace, StackId stack) {
  std::vector<std::string> out;
  if (stack != kNoStack) {
    for (const FrameId frame : trace.stacks[stack].frames) {
      out.push_back(trace.frames[frame]);
    }
  }
  return out;
}

}  // namespace offwait
