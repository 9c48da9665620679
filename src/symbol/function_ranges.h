// SPDX-License-Identifier: GPL-2.0-or-later
// Which function covers an address. Functions in symbol tables overlap, share addresses and have no
// sizes; this is where it is decided, once, what each address is called.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace offwait {

/// A symbol as a table has it. Addresses are in one space, whichever.
struct FunctionSymbol {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;   ///< bytes; 0: not known
  std::uint64_t limit = 0;  ///< end of the section it lies in; covers nothing from there on
  std::uint32_t name = 0;   ///< the owner's business
  std::uint16_t rank = 0;   ///< among symbols of one address the least is the name
};

struct FunctionHit {
  std::uint64_t begin = 0;
  std::uint32_t name = 0;
};

/// Disjoint ranges in order. Of two symbols that cover an address the one that begins later is its name. At
/// one address a size beats none, then the rank decides, then the order of the table. A symbol without size
/// ends where the next one begins, and is not a name inside one that has a size (it is a label).
class FunctionRanges {
 public:
  FunctionRanges() = default;
  /// O(n log n) whatever the symbols claim; at most 2n ranges.
  explicit FunctionRanges(std::vector<FunctionSymbol> symbols);

  std::optional<FunctionHit> find(std::uint64_t address) const;
  bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t function;  // where the function begins; less than `begin` behind one nested in it
    std::uint32_t name;
  };
  std::vector<Range> ranges_;
};

}  // namespace offwait
