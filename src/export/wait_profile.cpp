// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/wait_profile.h"

#include <map>
#include <tuple>
#include <utility>

#include "analysis/code_uses.h"
#include "analysis/object_sites.h"
#include "export/actor_names.h"
#include "graph/false_wakeups.h"
#include "graph/sweep.h"
#include "model/called.h"
#include "model/validate.h"

namespace offwait {

namespace {

/// By SiteId.
std::vector<bool> idle_sites(const Trace& trace, const ProgressOptions& options) {
  const Facts facts = facts_of(trace, group_threads(trace), options);
  const CodeUses code = code_uses_of(trace, facts);
  std::vector<bool> out;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const GroupId group = facts.groups.group_of[trace.sites[id].thread];
    out.push_back(code.requests[id] || group == kNoGroup || !code.counts[group]);
  }
  return out;
}

/// `sites` and `sums` are those of the trace after split_by_object(), and `idle` those of the trace before.
std::vector<StackWaits> sum_waits(const Trace& trace, const std::vector<ObjectSite>& sites,
                                  const std::vector<SiteSum>& sums, const std::vector<bool>& idle) {
  using Key = std::tuple<std::string, StackId, WaitClass, std::string, bool, std::string>;
  const ObjectNames objects(trace);
  std::map<Key, StackWaits> found;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const SiteSum& sum = sums[id];
    const ObjectId object = sites[id].object;
    if (trace.actors[site.thread].outside || (sum.waits == 0 && sum.wait_ns == 0)) continue;
    StackWaits waits{called(trace.actors[site.thread]),
                     site.wait_stack,
                     site.wait_class,
                     site.waker == kNoActor ? "" : actor_name(trace.actors[site.waker]),
                     idle[sites[id].part_of],
                     object == kNoObject ? "" : objects.in_stack(object, site.wait_stack)};
    const Key key{waits.thread, waits.stack, waits.wait_class, waits.waker, waits.idle, waits.object};
    StackWaits& all = found.try_emplace(key, std::move(waits)).first->second;
    all.wait_ns += sum.wait_ns;
    all.weight_ns += sum.weight_ns;
    all.waits += sum.waits;
  }
  std::vector<StackWaits> out;
  for (auto& [key, waits] : found) out.push_back(std::move(waits));
  return out;
}

std::string program_of(const Trace& trace) {
  for (const Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread && !actor.outside && !actor.program.empty())
      return actor.program.substr(actor.program.rfind('/') + 1);  // npos + 1 == 0
  }
  return "";
}

}  // namespace

Result<WaitProfile> wait_profile(Trace trace, const ProgressOptions& progress, bool keep_false_wakeups) {
  OFFWAIT_TRY_STATUS(check_window(trace));
  if (!keep_false_wakeups) trace = without_false_wakeups(std::move(trace));
  const std::vector<bool> idle = idle_sites(trace, progress);
  const std::vector<ObjectSite> sites = split_by_object(trace);
  OFFWAIT_TRY(const Sweep swept, sweep(trace));
  return WaitProfile{trace.recording,      trace.window, program_of(trace),
                     trace.frames,         trace.stacks, sum_waits(trace, sites, swept.sites, idle),
                     sampled_stacks(trace)};
}

}  // namespace offwait
