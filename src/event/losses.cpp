// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/losses.h"

#include <array>

namespace offwait {

namespace {

constexpr std::array<const char*, OFFWAIT_LOSS_COUNT> kNames = {
#define X(name, text) #name,
    OFFWAIT_LOSS_COUNTERS(X)
#undef X
};

}  // namespace

LossCounts no_losses() {
  LossCounts losses;
  for (const char* name : kNames) losses.emplace(name, 0);
  return losses;
}

void count_loss(LossCounts& losses, offwait_loss loss) { ++losses[kNames.at(loss)]; }

}  // namespace offwait
