// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace offwait {

/// One function that contains an address, according to DWARF.
struct SourceFrame {
  std::string function;  ///< linkage name where there is one, else `ns::Class::name`; may be empty
  /// Virtual address where its code around the address begins; 0 for inlined functions.
  std::uint64_t begin = 0;
  bool inlined = false;
  std::string file;        ///< with directories, as the compiler was given it; empty: unknown
  std::uint32_t line = 0;  ///< 0: unknown
};

/// Functions, inlined functions and lines of one file, read with libdw. It reads hostile bytes, maps the
/// file, and takes long in large files, so it must run in a confined process.
class DwarfLines {
 public:
  /// `supplement` is the file that .gnu_debugaltlink names, or -1. Returns null without usable DWARF.
  static std::unique_ptr<DwarfLines> open(int fd, int supplement);
  ~DwarfLines();
  DwarfLines(const DwarfLines&) = delete;
  DwarfLines& operator=(const DwarfLines&) = delete;
  DwarfLines(DwarfLines&&) = delete;
  DwarfLines& operator=(DwarfLines&&) = delete;

  /// The functions at this virtual address, innermost first; the last one is not inlined. Empty if no
  /// compilation unit covers the address. Ask in order of addresses: only the functions of one unit are kept.
  std::vector<SourceFrame> frames_at(std::uint64_t address);

 private:
  DwarfLines();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace offwait
