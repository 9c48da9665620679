// SPDX-License-Identifier: GPL-2.0-or-later
// How much the events that a recording lost matter to its report.
#pragma once

#include "analysis/findings.h"

namespace offwait {

struct LossImpact {
  double unknown_s = 0;   ///< time of all threads in which events were lost
  double recorded_s = 0;  ///< lifetimes of all threads within the window, added up
  /// Too little was lost to change the answer: every thread was recorded, what is unknown of the target's
  /// time does not matter (Findings::lost), and the lost events are fewer than 1 % of the waits. Context
  /// switches that the kernel did not report are judged only by the time that they leave unknown, unless they
  /// leave none.
  bool minor = false;
};

LossImpact loss_impact(const Findings& findings);

}  // namespace offwait
