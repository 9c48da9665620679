// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/file_calls.h"

#include <cstddef>
#include <string_view>

#include "code/calls.h"

namespace offwait {

namespace {

/// What libc calls on its way into the kernel; further out a function may have such a name and do more.
constexpr std::size_t kMostUserFrames = 2;

/// `call_of_frame`: call_of() of a frame by its id.
template <class CallOfFrame>
std::string_view innermost_call(const Trace& trace, StackId stack, const CallOfFrame& call_of_frame) {
  std::size_t user_frames = 0;
  for (const FrameId id : trace.stacks[stack].frames) {
    if (trace.frames[id].kind == Frame::Kind::user && ++user_frames > kMostUserFrames) break;
    const std::string_view call = call_of_frame(id);
    if (!call.empty()) return call;
  }
  return "";
}

}  // namespace

std::string file_call(const Trace& trace, StackId stack) {
  if (stack == kNoStack) return "";
  return std::string(innermost_call(trace, stack, [&](FrameId id) { return call_of(trace.frames[id]); }));
}

std::vector<bool> stacks_that_sync(const Trace& trace) {
  std::vector<std::string_view> calls;  // by FrameId
  for (const Frame& frame : trace.frames) calls.push_back(call_of(frame));
  std::vector<bool> out;
  for (StackId stack = 0; stack < trace.stacks.size(); ++stack) {
    const std::string_view call = innermost_call(trace, stack, [&](FrameId id) { return calls[id]; });
    out.push_back(action_of(call) == FileAction::sync);
  }
  return out;
}

}  // namespace offwait
