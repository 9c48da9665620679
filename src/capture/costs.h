// SPDX-License-Identifier: GPL-2.0-or-later
// What recording costs, as far as it is measured: the programs that run at switches and wakings (bpf/cost.h),
// without the kernel's way to them, and the CPU time of this process and of those that it has started.
#pragma once

#include <offwait.skel.h>

#include "base/nanos.h"
#include "capture/stack_budget.h"
#include "model/trace.h"
#include "offwait/event.h"

namespace offwait {

class Costs {
 public:
  /// The skeleton must outlive this.
  explicit Costs(const offwait_bpf& skeleton) : skeleton_(skeleton) {}

  /// The window begins now.
  void begin();

  /// The cost so far, and the time that all CPUs were busy since the machine started.
  CostReading read(Nanos now) const;

  /// The cost since the window's start.
  RecordingCost since_begin() const;

 private:
  /// The run time of one of the programs, and of all.
  double program_ns(offwait_costed_program program) const;
  Nanos programs_ns() const;

  const offwait_bpf& skeleton_;
  Nanos programs_at_begin_ = 0;
  Nanos recorder_at_begin_ = 0;
};

}  // namespace offwait
