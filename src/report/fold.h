// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks shortened to what says where in the program it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace offwait {

struct FoldedStack {
  std::vector<std::string> kernel;  ///< short frames, leaf first
  std::vector<std::string> user;    ///< short frames, leaf first
  std::size_t left_out = 0;         ///< user frames (all frames, if there is no "--") beyond the limit
};

/// What noise.h leaves out.
enum class StackNoise : std::uint8_t { folded, kept };

inline constexpr std::size_t kKernelFrames = 2;

/// At most `kernel_limit` kernel frames, without the ways into the kernel and to the scheduler that every
/// wait has, and at most `limit` user frames. A stack without "--" is all `user`.
FoldedStack fold(const std::vector<std::string>& stack, std::size_t limit,
                 StackNoise noise = StackNoise::folded, std::size_t kernel_limit = kKernelFrames);

}  // namespace offwait
