// SPDX-License-Identifier: GPL-2.0-or-later
// How many stacks a recording may take. The cost of recording waits without stacks is what it is; stacks may
// have what that leaves of the budget, and an eighth of it at least. All is plain values.
#pragma once

#include <optional>

#include "base/nanos.h"

namespace offwait {

/// CPU time on all CPUs, each from a start of its own to `at`.
struct CostReading {
  Nanos at = 0;
  Nanos cost_ns = 0;    ///< taken by recording
  Nanos stacks_ns = 0;  ///< part of it, by taking stacks that were drawn
  Nanos busy_ns = 0;    ///< used by all programs, recording included
};

/// Says from when on waits are certain to have their stacks taken, so that recording keeps within a part of
/// the time that the CPUs are busy. The expected number of stacks is in inverse proportion to that length, or
/// falls more slowly.
class StackBudget {
 public:
  /// `most`: the part, more than 0.
  explicit StackBudget(double most) : most_(most) {}

  /// Whether next() might decide now. A reading costs more than the question.
  bool is_due(Nanos now) const;

  /// Decides from what the time since the last decision cost: twice a second, but a tenth of a second after
  /// the first reading, and after it has decided for fewer stacks. While all stacks are taken, it decides as
  /// soon as the budget of half a second is spent. Returns 0 if all waits are to have their stacks; else
  /// waits of 2^n ns and longer are, and n is returned. Call it about ten times a second. A reading that is
  /// older than the last one is ignored.
  unsigned next(const CostReading& now);

 private:
  static constexpr Nanos kShort = kSecond / 10;

  void decide(double allowed_ns, double least_ns, const CostReading& now);

  double most_;
  unsigned bits_ = 0;
  std::optional<CostReading> last_;
  Nanos interval_ = kShort;  ///< between two decisions
  Nanos all_again_ = 0;      ///< not before this time are all stacks taken again
  Nanos pause_ = kSecond;    ///< before that, the next time
};

}  // namespace offwait
