// SPDX-License-Identifier: GPL-2.0-or-later
// Rules for code of x86_64 that has none in .eh_frame, from what its instructions do to the stack pointer:
// the C library of Alpine (musl) is built without unwind information and without frame pointers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "unwind/call_frame.h"

namespace offwait {

/// Adds the rules for `code`, which begins at `begin` (as rows count). `functions`: where functions are known
/// to begin, in order; others are found by calls of them, jumps to them and by where their addresses are
/// taken. Code that clears the frame pointer without having saved it is in the outermost frame. Adds nothing
/// if most functions that have a frame keep a frame pointer: the walk follows those without rules, and code
/// of other compilers than C's does things that are not understood here. Where code follows that nothing is
/// known to lead to, what it does until it returns tells what it began with. The caller says where the last
/// rule ends.
void add_code_rules(std::string_view code, std::uint32_t begin, const std::vector<std::uint32_t>& functions,
                    UnwindRows& rows);

}  // namespace offwait
