// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/backtrace.h"

namespace offwait {

Backtrace backtrace_of(const std::vector<Frame>& frames, const std::vector<Stack>& stacks, StackId stack) {
  Backtrace out;
  if (stack == kNoStack) return out;
  for (const FrameId frame : stacks[stack].frames) out.frames.push_back(frames[frame]);
  out.cut = stacks[stack].cut;
  return out;
}

Backtrace backtrace_of(const Trace& trace, StackId stack) {
  return backtrace_of(trace.frames, trace.stacks, stack);
}

std::vector<std::string> to_lines(const Backtrace& stack) {
  std::vector<std::string> lines;
  bool in_kernel = false;
  for (const Frame& frame : stack.frames) {
    if (in_kernel && frame.kind == Frame::Kind::user) lines.emplace_back(kKernelUserBoundary);
    in_kernel = frame.kind == Frame::Kind::kernel;
    lines.push_back(to_string(frame));
  }
  if (stack.cut) {
    if (in_kernel) lines.emplace_back(kKernelUserBoundary);
    lines.emplace_back(cut_frame(*stack.cut));
  }
  return lines;
}

}  // namespace offwait
