// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the waits whose stacks were drawn with these stacks, which the kernel sends after them. All is plain
// values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "event/recording.h"

namespace offwait {

class DrawnWaits {
 public:
  /// Appends the record to `records`, in its place among the records of its thread. A wait whose stacks were
  /// drawn is kept back until they come, or another record of what the thread did. False, and nothing is
  /// appended, if it is no known record of this size.
  bool append(std::span<const std::byte> record, RecordBuffer& records);

  /// Appends what is kept back. Without its stacks, a wait counts as one that was not drawn.
  void flush(RecordBuffer& records);

 private:
  bool add_stacks(std::span<const std::byte> record, RecordBuffer& records);
  static void append_without_stacks(offwait_wait wait, RecordBuffer& records);

  std::vector<offwait_wait> kept_;  ///< one for each thread at most, and rarely more than one for each CPU
};

}  // namespace offwait
