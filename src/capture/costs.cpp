// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/costs.h"

#include <algorithm>
#include <optional>

#include <unistd.h>

#include "base/monotonic.h"
#include "base/read_file.h"
#include "capture/kernel_names.h"
#include "capture/libbpf_calls.h"

namespace offwait {
namespace {

/// The CPU time of this process and of those that it has started and that have ended.
Nanos recorder_ns() { return process_cpu_time(RUSAGE_SELF) + process_cpu_time(RUSAGE_CHILDREN); }

}  // namespace

double Costs::program_ns(offwait_costed_program program) const {
  offwait_run_cost all{};
  for (const auto& cost : values_by_cpu<offwait_run_cost>(skeleton_.maps.run_costs, program)) {
    all.runs += cost.runs;
    all.timed_runs += cost.timed_runs;
    all.timed_ns += cost.timed_ns;
  }
  if (all.timed_runs == 0) return 0;
  return static_cast<double>(all.timed_ns) / static_cast<double>(all.timed_runs) *
         static_cast<double>(all.runs);
}

Nanos Costs::programs_ns() const {
  double sum = 0;
  for (unsigned program = 0; program < OFFWAIT_COST_COUNT; ++program)
    sum += program_ns(static_cast<offwait_costed_program>(program));
  return static_cast<Nanos>(sum);
}

void Costs::begin() {
  programs_at_begin_ = programs_ns();
  recorder_at_begin_ = recorder_ns();
}

CostReading Costs::read(Nanos now) const {
  CostReading reading;
  reading.at = now;
  // Processes that offwait has started are left out: all of their time would appear when they end.
  reading.cost_ns = programs_ns() + process_cpu_time(RUSAGE_SELF);
  // The threads that waited take their stacks in that program. The threads that wake them take about as long
  // for their own stacks.
  reading.stacks_ns = static_cast<Nanos>(2 * program_ns(OFFWAIT_COST_EXIT));
  if (const std::optional<CpuTicks> ticks = parse_cpu_ticks(read_file("/proc/stat")))
    reading.busy_ns = static_cast<Nanos>(ticks->busy) * (kSecond / ::sysconf(_SC_CLK_TCK));
  return reading;
}

RecordingCost Costs::since_begin() const {
  RecordingCost cost;
  cost.programs_ns = std::max<Nanos>(programs_ns() - programs_at_begin_, 0);
  cost.recorder_ns = std::max<Nanos>(recorder_ns() - recorder_at_begin_, 0);
  return cost;
}

}  // namespace offwait
