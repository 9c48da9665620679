// SPDX-License-Identifier: GPL-2.0-or-later
// A stack that contains its frames, for renderers. A Trace keeps ids of interned frames instead.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/frame.h"
#include "model/stack_cut.h"
#include "model/trace.h"

namespace offwait {

struct Backtrace {
  std::vector<Frame> frames{};    ///< as in Stack
  std::optional<StackCut> cut{};  ///< as in Stack

  bool empty() const { return frames.empty() && !cut; }
  friend bool operator==(const Backtrace&, const Backtrace&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Backtrace&, const Backtrace&) = default;
};

/// Empty for kNoStack. `frames` and `stacks` are those of a Trace.
Backtrace backtrace_of(const std::vector<Frame>& frames, const std::vector<Stack>& stacks, StackId stack);
Backtrace backtrace_of(const Trace& trace, StackId stack);

/// Separates kernel frames from user frames wherever a stack is written.
inline constexpr std::string_view kKernelUserBoundary = "--";

/// The stack as a list of texts, leaf first: to_string() of each frame, kKernelUserBoundary after the kernel
/// frames if more follows, and cut_frame() at the end if the stack was cut.
std::vector<std::string> to_lines(const Backtrace& stack);

}  // namespace offwait
