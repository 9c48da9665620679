// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/file_calls.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "code/calls.h"
#include "code/kernel.h"

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

bool syncs_in_kernel(const Frame& frame) {
  return frame.kind != Frame::Kind::user && syncs_file(frame.function);
}

/// `call_of_frame`, `frame_syncs`: call_of() and syncs_in_kernel() of a frame by its id.
template <class CallOfFrame, class FrameSyncs>
FileAction action_in(const Trace& trace, StackId stack, const CallOfFrame& call_of_frame,
                     const FrameSyncs& frame_syncs) {
  const std::string_view call = innermost_call(trace, stack, call_of_frame);
  const FileAction action = action_of(call);
  if (!may_write(call)) return action;
  const std::vector<FrameId>& frames = trace.stacks[stack].frames;
  return std::any_of(frames.begin(), frames.end(), frame_syncs) ? FileAction::sync : action;
}

}  // namespace

std::string file_call(const Trace& trace, StackId stack) {
  if (stack == kNoStack) return "";
  return std::string(innermost_call(trace, stack, [&](FrameId id) { return call_of(trace.frames[id]); }));
}

FileAction file_action(const Trace& trace, StackId stack) {
  if (stack == kNoStack) return FileAction::other;
  return action_in(
      trace, stack, [&](FrameId id) { return call_of(trace.frames[id]); },
      [&](FrameId id) { return syncs_in_kernel(trace.frames[id]); });
}

std::vector<bool> stacks_that_sync(const Trace& trace) {
  // By FrameId: a frame is in many stacks.
  std::vector<std::string_view> calls;
  std::vector<bool> syncs;
  for (const Frame& frame : trace.frames) {
    calls.push_back(call_of(frame));
    syncs.push_back(syncs_in_kernel(frame));
  }
  std::vector<bool> out;
  for (StackId stack = 0; stack < trace.stacks.size(); ++stack) {
    const FileAction action = action_in(
        trace, stack, [&](FrameId id) { return calls[id]; }, [&](FrameId id) { return syncs[id]; });
    out.push_back(action == FileAction::sync);
  }
  return out;
}

}  // namespace offwait
