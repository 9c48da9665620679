// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/stack_budget.h"

#include <algorithm>
#include <cmath>

namespace offwait {
namespace {

/// Shorter waits are hardly worth a draw: to draw takes as long as to recognise a stack.
constexpr unsigned kFewestBits = 12;
constexpr unsigned kMostBits = 32;
constexpr unsigned kLongestStep = 5;
/// Stacks have this part of the budget in any case, and this part of one CPU: some hundred stacks a second.
/// Without any, the times by stack rest on nothing.
constexpr double kLeastPart = 0.125;
constexpr double kLeastTime = 0.0005;
/// Twice the stacks must fit into the budget before twice as many are taken, or the two would alternate.
constexpr double kClearlyLess = 0.4;
/// The CPUs count as busy for this part of the time at least. Otherwise a sleeping machine would have no
/// budget.
constexpr double kLeastBusy = 0.05;
constexpr Nanos kLongestPause = 64 * kSecond;

double increase(Nanos before, Nanos after) { return static_cast<double>(std::max<Nanos>(after - before, 0)); }

}  // namespace

bool StackBudget::is_due(Nanos now) const {
  return !last_ || now >= last_->at + (bits_ == 0 ? kShort : interval_);
}

unsigned StackBudget::next(const CostReading& now) {
  if (!is_due(now.at)) return bits_;
  if (!last_) {
    last_ = now;
    return bits_;
  }
  const unsigned before = bits_;
  const double time = increase(last_->at, now.at);
  const double busy = std::max(increase(last_->busy_ns, now.busy_ns), kLeastBusy * time);
  const double allowed_ns = most_ * busy;
  const auto interval = static_cast<double>(interval_);
  if (time < interval && increase(last_->cost_ns, now.cost_ns) <= allowed_ns / time * interval) return bits_;
  decide(allowed_ns, kLeastTime * time, now);
  last_ = now;
  interval_ = bits_ > before ? kShort : kSecond / 2;  // the first steps are mostly too small
  return bits_;
}

void StackBudget::decide(double allowed_ns, double least_ns, const CostReading& now) {
  const double cost_ns = increase(last_->cost_ns, now.cost_ns);
  const double stacks_ns = increase(last_->stacks_ns, now.stacks_ns);
  if (bits_ == 0) {
    if (cost_ns <= allowed_ns) return;
    bits_ = kFewestBits;
    all_again_ = now.at + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    return;
  }
  const double left_ns = allowed_ns - std::max(cost_ns - stacks_ns, 0.0);
  const double room = std::max({left_ns, kLeastPart * allowed_ns, least_ns});
  const double used = stacks_ns / room;
  if (used > 1) {
    const auto step = static_cast<unsigned>(std::ceil(std::min(std::log2(used), double{kLongestStep})));
    bits_ = std::min(bits_ + std::max(step, 1U), kMostBits);
  } else if (used < kClearlyLess && bits_ > kFewestBits) {
    --bits_;
  } else if (used < kClearlyLess && now.at >= all_again_) {
    bits_ = 0;
  }
}

}  // namespace offwait
