// SPDX-License-Identifier: GPL-2.0-or-later
// Reads `.eh_frame` of one ELF file (DWARF 5 §6.4, LSB 5.0 core §10.6) into the table that both walkers
// search (offwait/unwind.h). The file is not trusted: it may be cut short, change while it is read, or be
// made to mislead. At worst its table is empty, or wrong about this file's own frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "offwait/unwind.h"

namespace offwait {

enum class Architecture : std::uint8_t { x86_64, arm64 };
#if defined(__aarch64__)
inline constexpr Architecture kHostArchitecture = Architecture::arm64;
#else
inline constexpr Architecture kHostArchitecture = Architecture::x86_64;
#endif

/// An executable segment (PT_LOAD), which tells how far a mapping of the file is moved.
struct CodeSegment {
  std::uint64_t offset = 0;   ///< in the file
  std::uint64_t address = 0;  ///< virtual, in the file
  std::uint64_t size = 0;     ///< bytes in the file
};

/// What one FDE covers: a function, a part of one (`.cold`), or the PLT.
struct FunctionExtent {
  std::uint32_t begin = 0;  ///< virtual address less the table's base
  std::uint32_t size = 0;   ///< bytes, not 0
  /// 1: signal handlers return to it (augmentation `S`); else 0. glibc's rules begin a byte before its first
  /// instruction, because a return address less one lies there.
  std::uint32_t of_signals = 0;
  friend bool operator==(const FunctionExtent&, const FunctionExtent&) = default;
};

struct UnwindTable {
  Architecture architecture = Architecture::x86_64;
  /// The lowest virtual address of an executable segment. Code 4 GiB above it or more has no rows.
  std::uint64_t base = 0;
  std::vector<CodeSegment> segments;
  /// Strictly in order of pc; neighbours differ; the last row is NONE. Empty when the file has no .eh_frame,
  /// and code from which no rules follow (code_rules.h), which also fill its gaps. Where FDEs overlap, the
  /// one that begins later counts. Between FDEs at most kIgnoredGap bytes apart the rule goes on, because
  /// padding is not executed. The last byte of any gap before a function without a frame is STOP: only a
  /// stack that was made by hand returns to the start of such a function.
  std::vector<offwait_unwind_row> rows;
  std::vector<FunctionExtent> functions;  ///< in order of start, one for each usable FDE
};

inline constexpr std::uint32_t kIgnoredGap = 15;
/// The most rows of one file; libLLVM has 650,000.
inline constexpr std::size_t kMostUnwindRows = std::size_t{16} << 20U;
/// The most bytes of one .eh_frame; libLLVM has 6 MB.
inline constexpr std::uint64_t kLargestEhFrame = std::uint64_t{256} << 20U;

/// Reads with pread and never maps: if the file is truncated meanwhile, reading a mapping would raise SIGBUS.
/// The descriptor must be seekable and stays the caller's. Returns an Error if the file is not a
/// little-endian 64-bit ELF file for x86_64 or arm64, has no executable segment, or exceeds a bound above.
/// `.eh_frame` is found by its section header, or else by PT_GNU_EH_FRAME.
Result<UnwindTable> read_unwind_table(int fd);
/// Reads an image in memory that is laid out like a file: the vdso.
Result<UnwindTable> read_unwind_table(std::string_view image);

}  // namespace offwait
