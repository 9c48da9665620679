// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of one ELF file, read once and sorted. The file is not trusted: it may be cut short, change
// while it is read, or be made to mislead. At worst it has no functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/message.h"
#include "symbol/function_ranges.h"

namespace offwait {

struct ElfFunction {
  std::uint64_t begin = 0;  ///< virtual address in the file
  std::string_view name;    ///< as in the table, mangled, at most 64 KiB; lives as long as the ElfSymbols
};

/// The functions (and labels in code) of `.symtab`, or, in a file stripped of that, of `.dynsym`,
/// `.gopclntab` and `.gnu_debugdata`. Of several names for one address the first in this order is chosen:
/// function before label; global before local before weak; fewer leading underscores; shorter; order of the
/// table. Only symbols inside executable sections count. A symbol of `.dynsym` without a size names its own
/// address only.
class ElfSymbols {
 public:
  /// No functions: every lookup fails.
  ElfSymbols() = default;

  /// Reads a file; the descriptor must be seekable and stays the caller's. Returns an Error if it is not ELF,
  /// claims a table larger than kLargestTable, or has more than kMostFunctions functions.
  static Result<ElfSymbols> read(int fd);
  /// Reads an image in memory, which it keeps: the vdso, mini debug info.
  static Result<ElfSymbols> read(std::string image);

  void write(MessageWriter& message) const;
  /// What write() has written; nothing if the message is of another form. The writer may be hostile.
  static std::optional<ElfSymbols> read(MessageReader& message);

  /// The virtual address at which the byte at `offset` of the file is executed; nothing if no executable
  /// segment holds it.
  std::optional<std::uint64_t> address_of(std::uint64_t offset) const;

  /// The function that covers this virtual address.
  std::optional<ElfFunction> find(std::uint64_t address) const;

  bool empty() const { return ranges_.empty(); }

  /// The most bytes of one symbol or string table.
  static constexpr std::uint64_t kLargestTable = std::uint64_t{1} << 30U;
  /// The most functions of one file; Chrome has about 1.5 million. Each takes up to 100 bytes while they are
  /// sorted.
  static constexpr std::size_t kMostFunctions = std::size_t{4} << 20U;

 private:
  friend class ElfReader;
  struct Segment {
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t address;
  };
  std::vector<Segment> segments_;
  FunctionRanges ranges_;
  std::string names_;  // the string tables, each followed by a NUL; a symbol's name is an offset
};

}  // namespace offwait
