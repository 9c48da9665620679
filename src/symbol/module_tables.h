// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of one file (or the vdso) and of its debug file, by their symbol tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/message.h"
#include "symbol/elf_symbols.h"
#include "unwind/eh_frame.h"

namespace offwait {

struct ModuleFiles {
  int file = -1;        ///< the ELF file
  std::string image;    ///< its bytes, when there is no file
  int debug = -1;       ///< the file with its DWARF, may be `file` itself; -1: none
  int supplement = -1;  ///< the file into which dwz has moved a part of `debug`; -1: none
};

class ModuleTables {
 public:
  /// No functions.
  ModuleTables() = default;
  /// Reads the symbol tables. What cannot be read has no functions. The files are hostile: call it in a
  /// confined process.
  static ModuleTables read(const ModuleFiles& files);
  /// Also reads where functions without a name begin (Place::begin), which takes longer.
  void read_extents(const ModuleFiles& files);
  bool has_extents() const { return has_extents_; }

  void write(MessageWriter& message) const;
  /// What write() has written; nothing if the message is of another form. The writer may be hostile.
  static std::optional<ModuleTables> read(MessageReader& message);

  struct Place {
    std::uint64_t address = 0;  ///< virtual address in the file
    std::uint64_t begin = 0;    ///< of the function; 0: not known
    /// Mangled; empty: not known. Lives as long as the tables. What signal handlers return to is called
    /// `__restore_rt`, as in glibc: stripped libraries have its unwind rule, but not its name.
    std::string_view name;
  };
  /// What is at this offset of the file; nothing if no executable segment of an ELF file holds it.
  std::optional<Place> at(std::uint64_t offset) const;

 private:
  const FunctionExtent* extent_at(std::uint64_t address) const;

  ElfSymbols own_;
  ElfSymbols debug_;
  bool has_extents_ = false;
  std::uint64_t extents_base_ = 0;
  std::vector<FunctionExtent> extents_;
};

}  // namespace offwait
