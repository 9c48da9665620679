// SPDX-License-Identifier: GPL-2.0-or-later
// How much CPU time offwait may use to look at the mappings of processes while it records. A machine that
// starts a thousand processes a second would keep it busy: each is new, and gone a moment later. (While a web
// server ran 500 CGI scripts a second, the recorder used half a CPU and its BPF programs 6 % of one.) All is
// plain values.
#pragma once

#include <optional>

#include "base/nanos.h"
#include "capture/stack_budget.h"

namespace offwait {

class LookBudget {
 public:
  /// `most`: the part of the time that the CPUs are busy that recording may take. Looks may take half of it,
  /// and 1 % of one CPU in any case.
  LookBudget(double most, Nanos begin) : most_(most), at_(begin) {}

  /// Whether take() would use a reading: twice a second.
  bool is_due(Nanos now) const { return !last_ || now >= last_->at + kSecond / 2; }

  /// Takes a reading if it is due.
  void take(const CostReading& now);

  /// How much CPU time looks may take now, 0 or less: none. What is not used is kept, for 3 s at most, so
  /// that a few new processes never wait.
  Nanos time_left(Nanos now) const { return static_cast<Nanos>(left_at(now)); }

  /// Notes that looks took this much CPU time. If it is more than was left, the next looks wait.
  void spend(Nanos now, Nanos cpu_time);

 private:
  static constexpr double kLeastPart = 0.01;
  static constexpr double kMostKept = 3e9;

  double left_at(Nanos now) const;

  double most_;
  double part_ = kLeastPart;                 ///< CPU time for looks, as a part of the time
  double left_ns_ = kLeastPart * kMostKept;  ///< at `at_`
  Nanos at_;
  std::optional<CostReading> last_;
};

}  // namespace offwait
