// SPDX-License-Identifier: GPL-2.0-or-later
// Places in one file (or the vdso) → functions and lines, read in confined processes.
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
  std::string image;    ///< or its bytes, when there is no file
  int debug = -1;       ///< what the file was stripped of; may be `file` itself; -1: nowhere
  int supplement = -1;  ///< what dwz has taken out of `debug`
};

struct CodePlace {
  /// Virtual address of the place in the file; nothing if no executable segment of an ELF file holds it.
  std::optional<std::uint64_t> address;
  /// Innermost first: functions inlined there, then the one that holds them. Names are as in the tables,
  /// mangled. Without any name the one frame's function is empty; so is `begin` then.
  std::vector<SourceFrame> frames;
};

struct ModuleFrames {
  std::vector<CodePlace> places;  ///< one for each offset
  bool names_lost = false;  ///< reading symbol tables crashed or took too long: some places have no names
  bool lines_lost = false;  ///< the same of DWARF
};

/// `offsets` in the file, ascending.
ModuleFrames module_frames(const ModuleFiles& files, const std::vector<std::uint64_t>& offsets);

}  // namespace offwait
