// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks as other programs show them: whole, frame by frame.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// Hostile bytes.
struct ShownFrame {
  std::string name;  ///< without argument types and offset, as in --folded: `ns::do_commit`, `[app+0x1f20]`
  std::string file;  ///< source file; empty: not known
  std::uint32_t line = 0;
  // clang-tidy 14 takes its own 0 for one of ours.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ShownFrame&, const ShownFrame&) = default;
};
ShownFrame shown_frame(const Frame& frame);

/// Leaf first; a stack that was cut ends with a frame that says why. Empty for kNoStack.
std::vector<ShownFrame> shown_frames(const std::vector<Frame>& frames, const std::vector<Stack>& stacks,
                                     StackId stack);

/// What stands for a thread above its stacks: its name, or `[no name]`.
std::string thread_frame(const std::string& thread);

}  // namespace offwait
