// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the table with which the Go runtime walks stacks. Stripped programs have it, too.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace offwait {

struct GoFunction {
  std::uint64_t begin = 0;  ///< virtual address in the file
  std::uint64_t size = 0;   ///< bytes, up to the next function
  std::uint32_t name = 0;   ///< where its name begins in `names`; it ends at a NUL or at the end of `names`
};

struct GoFunctions {
  std::string_view names;  ///< part of the section
  std::vector<GoFunction> functions;
};

/// Reads `.gopclntab` as Go 1.18 and later write it for 64-bit little-endian machines (runtime/symtab.go:
/// pcHeader, functab, _func). Returns no functions if it has another form, is damaged, or does not say where
/// the code begins, which the linker may leave to the dynamic loader. At most 4 million functions.
GoFunctions read_go_functions(std::string_view section);

}  // namespace offwait
