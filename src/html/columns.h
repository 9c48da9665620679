// SPDX-License-Identifier: GPL-2.0-or-later
// The timeline from near: single waits, as many as there is room for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/findings.h"
#include "base/result.h"
#include "html/rows.h"
#include "html/stack_table.h"
#include "html/stretches.h"
#include "model/trace.h"

namespace offwait::html {

struct Columns {
  /// A deflate stream of kColumns columns, each after its length in bytes (32 bits, the low byte first). They
  /// have one number (html/encode.h) for each stretch, but the fourth one has a byte. Rows come one after the
  /// other, and the stretches of a row in order of time:
  /// 1. how many µs after the end of the row's stretch before it this one starts, or after the window's
  /// start;
  /// 2. how many µs later the thread is woken;
  /// 3. how many µs later it runs;
  /// 4. its state, + 128 if the wait was still open at the window's end;
  /// 5. what ended it: 2 × (row + 1), or 2 × an index into `others` + 1, or 0 if that is not known;
  /// 6. where it waited, and 7. where it was woken: numbers of a StackTable;
  /// 8. what it waited for: an index into `objects` + 1, or 0 if that is not known;
  /// 9. who held that when the wait began: as in 5.
  std::string deflated;
  std::vector<std::uint32_t> counts;  ///< by row: how many stretches it has
  std::vector<FoundActorId> others;   ///< that ended waits or held locks, and have no row
  std::vector<std::string> objects;   ///< hostile bytes
  bool is_whole = true;               ///< all stretches are there
  /// If not: the parts of the window, in order and apart, in which all stretches are. Elsewhere there are
  /// only those that take at least `longer_than`.
  std::vector<Window> whole;
  Nanos longer_than = 0;
};
inline constexpr std::size_t kColumns = 9;
inline constexpr std::size_t kSlices = 256;

/// As many stretches as fit into `bytes`, deflated: the longest ones wherever they are, and all in some parts
/// of the window, which are slices of an even grid. Those around `first` come first, then the window's
/// beginning and end, then slices that are spread evenly. Fails only if there is no memory.
Result<Columns> columns_of(const Trace& trace, const Histories& histories, const Findings& findings,
                           const Rows& rows, const std::vector<Window>& first, std::size_t bytes,
                           StackTable& stacks);

}  // namespace offwait::html
