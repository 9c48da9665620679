// SPDX-License-Identifier: GPL-2.0-or-later
// Functions of the kernel that say how code came into it, and those that a clock's samples fall into by the
// way they are taken. This is the place of these names; other rooms ask.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/frame.h"

namespace offwait {

/// Every stack's way into the kernel, and to a kernel thread's function.
bool is_kernel_entry(std::string_view function);

/// Whether a clock's samples in this function may be of code before it. A CPU takes a sample when the clock's
/// interrupt reaches it, so what runs with interrupts off is sampled where they come on again:
/// `_raw_spin_unlock_irqrestore`, `finish_task_switch`.
bool turns_interrupts_on(std::string_view function);

/// How many of the innermost frames are such functions. What was sampled in them belongs to the frame after
/// them, which had interrupts off or called what had. A stack keeps at least one kernel frame.
template <typename FrameAt>
std::size_t sampled_late(std::size_t frames, FrameAt&& at) {
  std::size_t late = 0;
  while (late + 1 < frames && at(late).kind == Frame::Kind::kernel &&
         turns_interrupts_on(at(late).function) && at(late + 1).kind == Frame::Kind::kernel) {
    ++late;
  }
  return late;
}

/// The system call that these kernel frames are part of, as `write`, or `page faults`; empty if it is neither
/// or not known. Innermost first; frames after the kernel's are not looked at.
std::string entered_by(const std::vector<Frame>& frames);

}  // namespace offwait
