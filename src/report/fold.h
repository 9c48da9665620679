// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks shortened to what says where in the program it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/backtrace.h"

namespace offwait {

struct FoldedStack {
  std::vector<Frame> kernel;    ///< leaf first
  std::vector<Frame> user;      ///< leaf first; of libc and libstdc++ without lines
  std::optional<StackCut> cut;  ///< ends `user`, if there was room for it
  /// User frames (all frames, if there are only kernel frames), and the cut, beyond the limit.
  std::size_t left_out = 0;
};

/// What noise.h leaves out.
enum class StackNoise : std::uint8_t { folded, kept };

inline constexpr std::size_t kKernelFrames = 2;

/// At most `kernel_limit` kernel frames, without the ways into the kernel and to the scheduler that every
/// wait has, and without functions that the clock samples late (sampled_late() in code/kernel.h),
/// and at most `limit` user frames, where a cut counts as one. A stack of kernel frames alone is all
/// `user`.
FoldedStack fold(const Backtrace& stack, std::size_t limit, StackNoise noise = StackNoise::folded,
                 std::size_t kernel_limit = kKernelFrames);

/// Without frames that have no name, where a function of the same module further out has one: it says more of
/// the place than an address does.
Backtrace told_by_callers(const Backtrace& stack);

/// The user frames of a stack that is shown whole.
std::vector<Frame> user_frames(const Backtrace& stack, StackNoise noise);

}  // namespace offwait
