// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/lane_factors.h"

#include <algorithm>
#include <utility>

namespace offwait {

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
