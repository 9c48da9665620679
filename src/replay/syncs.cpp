// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/syncs.h"

#include "replay/part_use.h"
#include "replay/what_if.h"

namespace offwait {

std::vector<Scenario> scenarios_of_syncs(CodeId calls) {
  if (calls == kNoCode) return {};
  std::vector<Scenario> out = {changes_of_function(calls, 0.5)};
  for (const Resource resource : {Resource::cpu, Resource::io}) {
    out.push_back({{resource, kNoGroup, kNoActor, 0.5, kNoService, kNoLock, calls}});
  }
  return out;
}

bool is_mostly_in(const Change& change, const CodePart& calls, const Trace& trace, const ThreadGroups& groups,
                  const WaitKinds& kinds, const Uses& uses) {
  if (change.resource == Resource::cpu) return change.group != kNoGroup && calls.cpu[change.group] > 0.5;
  if (change.resource != Resource::io && change.resource != Resource::disk) return false;
  const PartUse use = uses_of_parts(trace, groups, kinds, uses, {}, {change}).front();
  Nanos inside_ns = 0;
  for (const SiteId site : use.sites) {
    const StackId stack = trace.sites[site].wait_stack;
    if (stack != kNoStack && calls.stacks[stack]) inside_ns += uses.sites[site].wait_ns;
  }
  return 2 * inside_ns > use.time_ns;
}

}  // namespace offwait
