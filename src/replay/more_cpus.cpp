// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/more_cpus.h"

#include <algorithm>
#include <cstdint>

namespace offwait {

namespace {

bool adds_cpus(const Scenario& scenario) {
  return std::any_of(scenario.begin(), scenario.end(), [](const Change& change) {
    return change.resource == Resource::cpus && change.factor < 1;
  });
}

/// For the quota that was used up most often: the part of its periods in which it was used up, 0 to 1.
double throttled_part(const Trace& trace) {
  double out = 0;
  for (const CpuQuota& quota : trace.cpu_quotas) {
    const auto periods = static_cast<double>(std::max<std::uint64_t>(quota.periods, 1));
    out = std::max(out, std::min(1.0, static_cast<double>(quota.throttled_periods) / periods));
  }
  return out;
}

}  // namespace

bool changes_cpus(const Scenario& scenario) {
  return std::any_of(scenario.begin(), scenario.end(),
                     [](const Change& change) { return change.resource == Resource::cpus; });
}

void bound_more_cpus(const Trace& trace, const Scenario& scenario, Gain& gain) {
  if (!adds_cpus(scenario)) return;
  double least_factor = 1;
  for (const Change& change : scenario) least_factor = std::min(least_factor, change.factor);
  const double most = 1 / least_factor - 1;
  const double by_quota = most * throttled_part(trace);
  if (gain.certainty == Certainty::rough && by_quota == 0) return;
  gain = {std::min(std::max(gain.gain, by_quota), most), std::nullopt, std::nullopt, Certainty::up_to};
}

}  // namespace offwait
