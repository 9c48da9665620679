// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/look_budget.h"

#include <algorithm>

namespace offwait {

void LookBudget::take(const CostReading& now) {
  if (!is_due(now.at)) return;
  if (last_) {
    left_ns_ = left_at(now.at);
    at_ = now.at;
    const auto busy = static_cast<double>(std::max<Nanos>(now.busy_ns - last_->busy_ns, 0));
    part_ = std::max(most_ / 2 * busy / static_cast<double>(now.at - last_->at), kLeastPart);
  }
  last_ = now;
}

double LookBudget::left_at(Nanos now) const {
  const double gained = part_ * static_cast<double>(std::max<Nanos>(now - at_, 0));
  return std::min(left_ns_ + gained, std::max(part_ * kMostKept, left_ns_));
}

void LookBudget::spend(Nanos now, Nanos cpu_time) {
  left_ns_ = left_at(now) - static_cast<double>(cpu_time);
  at_ = now;
}

}  // namespace offwait
