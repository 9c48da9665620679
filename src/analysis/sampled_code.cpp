// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/sampled_code.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analysis/samples.h"
#include "code/kernel.h"
#include "model/backtrace.h"
#include "model/function_numbers.h"

namespace offwait {

namespace {

std::vector<FunctionId> path_of(const Trace& trace, const StackFunctions& functions, StackId id,
                                std::size_t late) {
  const Stack& stack = trace.stacks[id];
  const bool kernel_only = std::all_of(stack.frames.begin(), stack.frames.end(), [&trace](FrameId frame) {
    return trace.frames[frame].kind == Frame::Kind::kernel;
  });
  std::vector<FunctionId> out;
  if (kernel_only && !stack.cut) {
    for (std::size_t i = late; i < stack.frames.size(); ++i) {
      const FrameId frame = stack.frames[i];
      if (!is_kernel_entry(trace.frames[frame].function)) out.push_back(functions.of(frame));
    }
    return out;
  }
  const std::vector<FrameId> frames = functions.frames_of(id);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool inside_library =
        !functions.is_own(frames[i]) && i + 1 < frames.size() && !functions.is_own(frames[i + 1]);
    if (!inside_library) out.push_back(functions.of(frames[i]));
  }
  return out;
}

}  // namespace

SampledCode sampled_code(const Trace& trace) {
  SampledCode out;
  StackFunctions functions(trace);
  out.place_of = functions_of_frames(trace);
  out.late.resize(trace.stacks.size());
  out.paths.resize(trace.stacks.size());
  out.in_kernel.resize(trace.stacks.size());
  out.entered_by.resize(trace.stacks.size());
  std::vector<bool> done(trace.stacks.size());
  for (const CpuSample& sample : trace.cpu_samples) {
    const StackId id = sample.stack;
    if (id == kNoStack || done[id]) continue;
    done[id] = true;
    const std::vector<FrameId>& frames = trace.stacks[id].frames;
    const std::size_t late =
        sampled_late(frames.size(), [&](std::size_t i) -> const Frame& { return trace.frames[frames[i]]; });
    out.late[id] = static_cast<std::uint32_t>(late);
    out.paths[id] = path_of(trace, functions, id, late);
    out.in_kernel[id] = !frames.empty() && trace.frames[frames.front()].kind == Frame::Kind::kernel;
    if (out.in_kernel[id]) out.entered_by[id] = entered_by(backtrace_of(trace, id).frames);
  }
  out.functions = std::move(functions.all);
  return out;
}

}  // namespace offwait
