// SPDX-License-Identifier: GPL-2.0-or-later
// How much of the target's time is unknown because records were lost.
#pragma once

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

struct LostTime {
  Nanos lost_ns = 0;   ///< in which records of its threads were lost
  Nanos lived_ns = 0;  ///< its threads' lives; both are clipped to the window and added up over the threads
  /// What is unknown may change the answer: it is a hundredth of the time or more.
  bool matters() const { return lost_ns > 0 && 100 * lost_ns >= lived_ns; }
};

/// Counts the threads of the target. What was lost of other threads does not matter to them.
LostTime lost_time(const Trace& trace);

}  // namespace offwait
