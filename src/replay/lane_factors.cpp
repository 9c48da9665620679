// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/lane_factors.h"

#include <algorithm>
#include <utility>

namespace offwait {

Factors factors_of(const std::vector<Scenario>& scenarios, std::size_t lanes) {
  Factors out(lanes);
  for (std::size_t lane = 0; lane < scenarios.size(); ++lane) {
    for (const Change& change : scenarios[lane]) {
      if (change.code != kNoCode) continue;
      // The remote waits of a group and those for a service are keyed apart: only a service has a number.
      const std::uint32_t part = change.service != kNoService ? change.service
                                 : change.lock != kNoLock     ? change.lock
                                                              : change.device;
      out.multiply(change.resource, change.group, part, lane, change.factor);
    }
  }
  return out;
}

std::vector<double> shorter_queues(const std::vector<Scenario>& scenarios, std::size_t lanes,
                                   const Uses& uses, const Code* code, double used_ns) {
  std::vector<double> out(lanes, 1.0);
  for (std::size_t lane = 0; lane < scenarios.size(); ++lane) {
    for (const Change& change : scenarios[lane]) {
      if (change.resource != Resource::cpu) continue;
      const double running = change.code != kNoCode
                                 ? code->parts[change.code].cpu_ns
                                 : static_cast<double>(uses.groups[change.group].running_ns);
      out[lane] *= 1 - (1 - change.factor) * running / used_ns;
    }
  }
  return out;
}

CodeFactors::CodeFactors(const Trace& trace, const Code* code, const std::vector<Scenario>& scenarios,
                         const Factors& all, std::size_t lanes)
    : trace_(trace), code_(code), scenarios_(scenarios), ones_(lanes, 1.0) {
  const bool changes = std::any_of(scenarios.begin(), scenarios.end(), [](const Scenario& scenario) {
    return std::any_of(scenario.begin(), scenario.end(),
                       [](const Change& change) { return change.code != kNoCode; });
  });
  for (PlaceId place = 0; changes && place < code->groups.size(); ++place) {
    const ConstRow group = all.of(Resource::cpu, code->groups[place]);
    std::vector<double> row(group, group + lanes);
    for (std::size_t lane = 0; lane < scenarios.size(); ++lane) {
      row[lane] *= factor_of_work(scenarios[lane], *code, place);
    }
    work_.push_back(std::move(row));
  }
}

ConstRow CodeFactors::wait(Resource resource, SiteId site) {
  const StackId stack = trace_.sites[site].wait_stack;
  if (!any() || stack == kNoStack) return ones_.data();
  std::vector<ConstRow>& of_stacks = waits_[static_cast<std::size_t>(resource)];
  if (of_stacks.empty()) of_stacks.resize(trace_.stacks.size());
  if (of_stacks[stack] == nullptr) {
    std::vector<double> row = ones_;
    for (std::size_t lane = 0; lane < scenarios_.size(); ++lane) {
      row[lane] = factor_of_wait(scenarios_[lane], *code_, resource, stack);
    }
    of_stacks[stack] = row == ones_ ? ones_.data() : changed_.emplace_back(std::move(row)).data();
  }
  return of_stacks[stack];
}

}  // namespace offwait
