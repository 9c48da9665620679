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

/// What a pinned target gains at most from so many CPUs, if other programs run on those that it has.
double most_beside_others(const ReplayInput& input, double cpus) {
  double threads = 0;
  double ran = 0;
  for (GroupId id = 0; id < input.groups.groups.size(); ++id) {
    if (input.groups.groups[id].outside) continue;
    threads += static_cast<double>(input.groups.groups[id].members.size());
    ran += static_cast<double>(input.uses.groups[id].running_ns) /
           static_cast<double>(input.trace.window.length());
  }
  if (ran <= 0 || input.cpus.queued <= 0) return 0;
  const double by_time = std::min(cpus, threads) / ran;
  const double not_queued = 1 - std::min(1.0, input.cpus.queued);
  return std::max(1.0, not_queued * by_time > 1 ? 1 / not_queued : by_time) - 1;
}

}  // namespace

bool changes_cpus(const Scenario& scenario) {
  return std::any_of(scenario.begin(), scenario.end(),
                     [](const Change& change) { return change.resource == Resource::cpus; });
}

Change more_cpus(const UsableCpus& cpus) {
  Change out{Resource::cpus};
  if (cpus.pinned_to > 0) out.factor = cpus.pinned_to / cpus.online;
  return out;
}

void bound_more_cpus(const ReplayInput& input, const Scenario& scenario, Gain& gain) {
  if (!adds_cpus(scenario)) return;
  const double factor = factor_of_cpus(scenario);
  double least_other = 1;
  for (const Change& change : scenario) {
    if (change.resource != Resource::cpus) least_other = std::min(least_other, change.factor);
  }
  const double most = least_other > 0 ? 1 / (factor * least_other) - 1 : gain.gain;
  double known = (1 / factor - 1) * throttled_part(input.trace);
  const bool beside_others = input.cpus.pinned_to > 0 && input.cpus.shared == 0;
  if (beside_others) known = most_beside_others(input, input.cpus.pinned_to / factor);
  if (gain.certainty == Certainty::rough && known == 0) return;
  gain = {std::max(std::min(gain.gain, most), known), std::nullopt, std::nullopt, Certainty::up_to};
}

}  // namespace offwait
