// SPDX-License-Identifier: GPL-2.0-or-later
// Functions in the table with which the Go runtime walks stacks; it is there in stripped programs, too.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace offwait {

struct GoFunction {
  std::uint64_t begin = 0;  ///< virtual address in the file
  std::uint64_t size = 0;   ///< up to the next one
  std::uint32_t name = 0;   ///< where it begins in `names`; ends at a NUL or there
};

struct GoFunctions {
  std::string_view names;  ///< part of the section
  std::vector<GoFunction> functions;
};

/// The contents of `.gopclntab` as Go 1.18 and later write it for 64-bit little-endian machines
/// (runtime/symtab.go: pcHeader, functab, _func); no functions if it is of another form, damaged, or does not
/// say where the code begins, which the linker may leave to the dynamic loader. At most 4 million.
GoFunctions read_go_functions(std::string_view section);

}  // namespace offwait
