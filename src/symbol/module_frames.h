// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the functions and lines at places in one file (or the vdso), in confined processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/confined.h"
#include "symbol/dwarf_lines.h"
#include "symbol/module_tables.h"

namespace offwait {

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

/// The functions at `offsets` in the file, which ascend. `tables`: those of the file if they were read
/// before, with extents; else null.
ModuleFrames module_frames(const ModuleFiles& files, const std::vector<std::uint64_t>& offsets,
                           const ModuleTables* tables = nullptr);

/// Begins to read the tables of the file, with extents, while this process goes on.
Result<ConfinedBeside> begin_tables(const ModuleFiles& files);

/// The tables that begin_tables() has read; nothing if they were lost.
std::optional<ModuleTables> tables_from(const Confined& confined);

}  // namespace offwait
