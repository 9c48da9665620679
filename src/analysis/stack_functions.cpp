// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stack_functions.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "code/kernel.h"
#include "code/roles.h"

namespace offwait {

StackFunctions::StackFunctions(const Trace& trace) : trace_(trace) {
  std::map<Frame, FunctionId> ids;
  for (const Frame& frame : trace.frames) {
    Frame function = offwait::function_of(frame);
    function.inlined = false;
    const auto [found, added] = ids.try_emplace(function, static_cast<FunctionId>(all.size()));
    if (added) all.push_back(std::move(function));
    function_of_.push_back(found->second);
    noise_.push_back(roles_of(frame).noise);
  }
}

std::vector<FrameId> StackFunctions::frames_of(StackId id) const {
  std::vector<FrameId> out;
  std::vector<Noise> noise;
  const Stack& stack = trace_.stacks[id];
  const auto user = std::find_if(stack.frames.begin(), stack.frames.end(), [this](FrameId frame) {
    return trace_.frames[frame].kind == Frame::Kind::user;
  });
  for (auto frame = user; frame != stack.frames.end(); ++frame) noise.push_back(noise_[*frame]);
  for (const std::size_t index : without_noise(noise, stack.cut.has_value())) {
    out.push_back(user[static_cast<std::ptrdiff_t>(index)]);
  }
  // A function without a name says less than its caller.
  if (out.size() > 1 && noise_[out.front()] == Noise::unnamed) out.erase(out.begin());
  if (out.empty()) {
    for (auto frame = user; frame != stack.frames.begin();) {
      const Frame& kernel = trace_.frames[*--frame];
      if (kernel.kind != Frame::Kind::kernel || is_kernel_entry(kernel.function)) continue;
      out.push_back(*frame);
      break;
    }
  }
  return out;
}

}  // namespace offwait
