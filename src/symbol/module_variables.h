// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the variables at places in the data of one file, in a confined process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbol/module_frames.h"

namespace offwait {

/// An address in a process, told from where it has mapped code of the file.
struct DataPlace {
  std::uint64_t code_offset = 0;  ///< in the file, of the code's mapping; a multiple of the page size
  std::uint64_t distance = 0;     ///< the address less the start of the mapping, modulo 2^64
};

struct Variable {
  std::uint64_t address = 0;  ///< the place's virtual address in the file
  std::string name;           ///< as in the table, mangled; empty: none covers the place
  std::uint64_t begin = 0;    ///< of the variable, if it has a name
};

struct ModuleVariables {
  std::vector<std::optional<Variable>> places;  ///< one for each place; nothing: it is not in the file's data
  bool names_lost = false;                      ///< reading the tables crashed or took too long
};

/// The variables in `.symtab` of the file, `.symtab` of its debug file, and `.dynsym`. Of several that cover
/// a place the smallest is chosen, then the first in this order.
ModuleVariables module_variables(const ModuleFiles& files, const std::vector<DataPlace>& places);

}  // namespace offwait
