// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/wait_profile.h"

#include <map>
#include <tuple>
#include <utility>

#include "analysis/code_uses.h"
#include "analysis/prepare.h"
#include "export/actor_names.h"
#include "model/called.h"

namespace offwait {

namespace {

/// By SiteId.
std::vector<bool> idle_sites(const Trace& trace, const ProgressOptions& options) {
  const ThreadGroups groups = group_threads(trace);
  const WaitKinds kinds = kinds_of_waits(trace, groups);
  const Uses uses = uses_of(trace, groups, kinds);
  const CodeUses code = code_uses_of(trace, groups, progress_of(trace, groups, kinds, uses, options));
  std::vector<bool> out;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const GroupId group = groups.group_of[trace.sites[id].thread];
    out.push_back(code.requests[id] || group == kNoGroup || !code.counts[group]);
  }
  return out;
}

std::vector<StackWaits> sum_waits(const Trace& trace, const std::vector<SiteSum>& sums,
                                  const std::vector<bool>& idle) {
  using Key = std::tuple<std::string, StackId, WaitClass, std::string, bool>;
  std::map<Key, StackWaits> found;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const SiteSum& sum = sums[id];
    if (trace.actors[site.thread].outside || (sum.waits == 0 && sum.wait_ns == 0)) continue;
    StackWaits waits{called(trace.actors[site.thread]), site.wait_stack, site.wait_class,
                     site.waker == kNoActor ? "" : actor_name(trace.actors[site.waker]), idle[id]};
    const Key key{waits.thread, waits.stack, waits.wait_class, waits.waker, waits.idle};
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

std::vector<SampledStack> count_samples(const Trace& trace) {
  std::map<std::pair<std::string, StackId>, std::uint64_t> found;
  for (const CpuSample& sample : trace.cpu_samples) {
    const bool inside = sample.at >= trace.window.begin && sample.at < trace.window.end;
    const Actor& thread = trace.actors[sample.thread];
    if (inside && !thread.outside) ++found[{called(thread), sample.stack}];
  }
  std::vector<SampledStack> out;
  for (const auto& [key, samples] : found) out.push_back({key.first, key.second, samples});
  return out;
}

}  // namespace

Result<WaitProfile> wait_profile(Trace trace, const ProgressOptions& progress, bool keep_false_wakeups) {
  AnalysisOptions steps;
  steps.merge = false;
  steps.answers = false;
  steps.keep_false_wakeups = keep_false_wakeups;
  OFFWAIT_TRY(const Prepared prepared, prepare(std::move(trace), steps));
  const Trace& ready = prepared.trace.all();
  return WaitProfile{ready.recording,     ready.window,
                     program_of(ready),   ready.frames,
                     ready.stacks,        sum_waits(ready, prepared.sweep.sites, idle_sites(ready, progress)),
                     count_samples(ready)};
}

}  // namespace offwait
