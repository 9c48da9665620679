// SPDX-License-Identifier: GPL-2.0-or-later
// Files whose functions have no names, so that the report cannot say which code waits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// Whether a frame's module is a file, which could have symbols.
bool is_file(std::string_view module);

/// The modules whose code the heaviest waits stand in, if no stack has a named function of theirs: most often
/// files whose symbols are stripped. Each edge that the report shows, in a knot that is an answer or as a
/// long wait outside of the knots, counts with its heaviest stack, and in it with the innermost user frame
/// that is outside of the C and C++ libraries. Modules are in the order of these edges, each once. Code
/// without a file (made by a JIT compiler, or not mapped when it was looked up) and the vdso are left out.
/// Hostile bytes.
std::vector<std::string> nameless_modules(const Findings& findings);

/// Whether an answer's place is code that a JIT compiler made and left without names.
bool has_nameless_jit_code(const Findings& findings);

}  // namespace offwait
