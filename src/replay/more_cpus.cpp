// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/more_cpus.h"

#include <algorithm>
#include <limits>

#include "progress/group_use.h"

namespace offwait {

namespace {

bool adds_cpus(const Scenario& scenario) {
  return std::any_of(scenario.begin(), scenario.end(), [](const Change& change) {
    return change.resource == Resource::cpus && change.factor < 1;
  });
}

/// What threads gain at most if none of them queues for a CPU.
double most_of_queues(const UsableCpus& cpus) {
  return cpus.queued < 1 ? 1 / (1 - cpus.queued) - 1 : std::numeric_limits<double>::infinity();
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
  if (ran <= 0) return 0;
  return std::max(0.0, std::min(std::min(cpus, threads) / ran - 1, most_of_queues(input.cpus)));
}

/// What threads gain at most if the other programs leave them the CPUs on which they ran.
double most_without_others(const ReplayInput& input) {
  const double ran =
      static_cast<double>(running_of_all(input.uses)) / static_cast<double>(input.trace.window.length());
  return ran > 0 ? std::min(input.cpus.others / ran, most_of_queues(input.cpus)) : 0;
}

}  // namespace

bool changes_cpus(const Scenario& scenario) {
  return std::any_of(scenario.begin(), scenario.end(),
                     [](const Change& change) { return change.resource == Resource::cpus; });
}

Change more_cpus(const UsableCpus& cpus) {
  Change out{Resource::cpus};
  const double has = cpus.pinned_to > 0 ? cpus.pinned_to : cpus.quota;
  if (has > 0) out.factor = has / cpus.online;
  return out;
}

double bound_more_cpus(const ReplayInput& input, const Scenario& scenario, Gain& gain) {
  if (!adds_cpus(scenario)) return 0;
  const double factor = factor_of_cpus(scenario);
  double least_other = 1;
  for (const Change& change : scenario) {
    if (change.resource != Resource::cpus) least_other = std::min(least_other, change.factor);
  }
  const double most = least_other > 0 ? 1 / (factor * least_other) - 1 : gain.gain;
  const bool beside_others = input.cpus.pinned_to > 0 && input.cpus.shared == 0;
  const double from_others = beside_others ? most_beside_others(input, input.cpus.pinned_to / factor)
                                           : std::min(1 / factor - 1, most_without_others(input));
  const CpuQuota* const quota = most_used_up(input.trace.cpu_quotas);
  const double known = std::max(from_others, (1 / factor - 1) * (quota == nullptr ? 0 : used_up(*quota)));
  if (gain.certainty == Certainty::rough && known == 0) return 0;
  gain = {std::max(std::min(gain.gain, most), known), std::nullopt, std::nullopt, Certainty::up_to};
  return known;
}

}  // namespace offwait
