// SPDX-License-Identifier: GPL-2.0-or-later
// Why a user stack does not reach its outermost frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace offwait {

/// Why the walk of a user stack ended too early. Recording files have the numbers: new ones are appended.
enum class StackCut : std::uint8_t {
  deep,              ///< the stack has more frames than are kept
  no_mapping,        ///< an address where no code was known to be mapped
  no_rule,           ///< code that its file's unwind table does not cover
  no_frame_pointer,  ///< code without an unwind table (a JIT's), and without a frame pointer
  unreadable,        ///< the stack's memory could not be read, or a register did not point to it
  bits_32,           ///< a program of 32 bits, whose stacks are not walked
};
inline constexpr std::size_t kStackCuts = 6;
/// `deep`, `no-mapping`, …
std::string_view to_string(StackCut cut);

/// The text that replaces the missing frames wherever such a stack is written: `[cut: no frame pointer]`.
std::string_view cut_frame(StackCut cut);

/// The reason that cut_frame() has this text for; nothing for any other text.
std::optional<StackCut> cut_of(std::string_view frame);

}  // namespace offwait
