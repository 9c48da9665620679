// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the functions and lines at places in one file (or the vdso), in confined processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbol/dwarf_lines.h"

namespace offwait {

struct ModuleFiles {
  int file = -1;        ///< the ELF file
  std::string image;    ///< its bytes, when there is no file
  int debug = -1;       ///< the file with its DWARF, may be `file` itself; -1: none
  int supplement = -1;  ///< the file into which dwz has moved a part of `debug`; -1: none
};

struct CodePlace {
  /// Virtual address of the place in the file; nothing if no executable segment of an ELF file holds it.
  std::optional<std::uint64_t> address;
  /// Innermost first: the functions inlined there, then the one that contains them. Names are as in the
  /// tables, mangled. Without any name the one frame's function is empty, and so may be its `begin`.
  std::vector<SourceFrame> frames;
};

struct ModuleFrames {
  std::vector<CodePlace> places;  ///< one for each offset
  bool names_lost = false;  ///< reading symbol tables crashed or took too long: some places have no names
  bool lines_lost = false;  ///< the same for DWARF
};

/// The functions at `offsets` in the file, which ascend.
ModuleFrames module_frames(const ModuleFiles& files, const std::vector<std::uint64_t>& offsets);

}  // namespace offwait
