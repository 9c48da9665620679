// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "model/trace.h"
#include "offwait/loss_counters.h"

namespace offwait {

/// Every counter, each 0.
LossCounts no_losses();

void count_loss(LossCounts& losses, offwait_loss loss);

}  // namespace offwait
