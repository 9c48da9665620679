// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which function covers an address. Functions in symbol tables overlap, share addresses and lack
// sizes; this is the only place that resolves it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sandbox/message.h"

namespace offwait {

/// A symbol as a table has it. All addresses are in one address space, whichever that is.
struct FunctionSymbol {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;   ///< bytes; 0: not known
  std::uint64_t limit = 0;  ///< end of its section; the symbol covers nothing from there on
  std::uint32_t name = 0;   ///< a number that means something to the caller only
  std::uint16_t rank = 0;   ///< of the symbols at one address the one with the least rank is chosen
};

struct FunctionHit {
  std::uint64_t begin = 0;
  std::uint32_t name = 0;
};

/// Disjoint ranges in order. Of two symbols that cover an address, the one that begins later names it. Of the
/// symbols at one address, one with a size is preferred, then the least rank, then the first in the table. A
/// symbol without a size ends where the next one begins; inside a symbol with a size it is a label and names
/// nothing.
class FunctionRanges {
 public:
  FunctionRanges() = default;
  /// Takes O(n log n) whatever the symbols claim, and makes at most 2n ranges.
  explicit FunctionRanges(std::vector<FunctionSymbol> symbols);

  void write(MessageWriter& message) const;
  /// What write() has written. All names must be less than `names`; nothing if they are not, or if the
  /// message is of another form. Ranges that a hostile process has put out of order make find() wrong, no
  /// more.
  static std::optional<FunctionRanges> read(MessageReader& message, std::uint64_t names);

  std::optional<FunctionHit> find(std::uint64_t address) const;
  bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t function;  // where the function begins; less than `begin` behind one nested in it
    std::uint32_t name;
    std::uint32_t unused = 0;  // no byte that write() writes is left to chance
  };
  std::vector<Range> ranges_;
};

}  // namespace offwait
