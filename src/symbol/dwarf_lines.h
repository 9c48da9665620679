// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace offwait {

/// One function that an address is in, according to DWARF.
struct SourceFrame {
  std::string function;  ///< linkage name where there is one, else `ns::Class::name`; may be empty
  std::uint64_t begin =
      0;  ///< virtual address where its code around the address begins; 0 for inlined functions
  bool inlined = false;
  std::string file;        ///< with directories, as the compiler was given it; empty: not known
  std::uint32_t line = 0;  ///< 0: not known
};

/// Functions, inlined functions and lines of one file through libdw. Reads hostile bytes, maps the file, and
/// takes long in large ones: for confined processes.
class DwarfLines {
 public:
  /// `supplement` is what .gnu_debugaltlink names, or -1. Null without usable DWARF.
  static std::unique_ptr<DwarfLines> open(int fd, int supplement);
  ~DwarfLines();
  DwarfLines(const DwarfLines&) = delete;
  DwarfLines& operator=(const DwarfLines&) = delete;
  DwarfLines(DwarfLines&&) = delete;
  DwarfLines& operator=(DwarfLines&&) = delete;

  /// Innermost first; the last is not inlined. Empty if no compilation unit covers this virtual address. To
  /// be asked in order of addresses: one unit's functions are kept.
  std::vector<SourceFrame> frames_at(std::uint64_t address);

 private:
  DwarfLines();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace offwait
