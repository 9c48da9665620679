// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/nanos.h"
#include "event/recording.h"
#include "model/trace.h"
#include "offwait/loss_counters.h"

namespace offwait {

/// Every counter, each 0.
LossCounts no_losses();

void count_loss(LossCounts& losses, offwait_loss loss);
/// Counts a loss that was found at this time, if the recording has all records of that time.
inline void count_loss_at(Nanos at, const KernelRecording& recording, LossCounts& losses, offwait_loss loss) {
  if (at > recording.complete.begin && at < recording.complete.end) count_loss(losses, loss);
}

}  // namespace offwait
