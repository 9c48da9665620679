// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stack_functions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace offwait {

namespace {

/// Every stack's way into the kernel, and to a kernel thread's function.
bool leads_in(std::string_view function) {
  constexpr std::array<std::string_view, 9> kNames = {"do_syscall_64", "x64_sys_call",      "invoke_syscall",
                                                      "el0_svc",       "el0_svc_common",    "do_el0_svc",
                                                      "ret_from_fork", "ret_from_fork_asm", "kthread"};
  return std::find(kNames.begin(), kNames.end(), function) != kNames.end() ||
         function.starts_with("entry_SYSCALL") || function.starts_with("el0t_64_sync");
}

}  // namespace

StackFunctions::StackFunctions(const Trace& trace) : trace_(trace) {
  std::map<Frame, FunctionId> ids;
  for (const Frame& frame : trace.frames) {
    Frame function = offwait::function_of(frame);
    function.inlined = false;
    const auto [found, added] = ids.try_emplace(function, static_cast<FunctionId>(all.size()));
    if (added) all.push_back(std::move(function));
    function_of_.push_back(found->second);
    noise_.push_back(noise_of(frame));
  }
}

const std::vector<FrameId>& StackFunctions::frames_of(StackId id) {
  frames_.clear();
  const Stack& stack = trace_.stacks[id];
  const auto user = std::find_if(stack.frames.begin(), stack.frames.end(), [this](FrameId frame) {
    return trace_.frames[frame].kind == Frame::Kind::user;
  });
  stack_noise_.clear();
  for (auto frame = user; frame != stack.frames.end(); ++frame) stack_noise_.push_back(noise_[*frame]);
  for (const std::size_t index : without_noise(stack_noise_, stack.cut.has_value())) {
    frames_.push_back(user[static_cast<std::ptrdiff_t>(index)]);
  }
  // What has no name says less than who called it.
  if (frames_.size() > 1 && noise_[frames_.front()] == Noise::unnamed) frames_.erase(frames_.begin());
  if (frames_.empty()) {
    for (auto frame = user; frame != stack.frames.begin();) {
      const Frame& kernel = trace_.frames[*--frame];
      if (kernel.kind != Frame::Kind::kernel || leads_in(kernel.function)) continue;
      frames_.push_back(*frame);
      break;
    }
  }
  return frames_;
}

}  // namespace offwait
