// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stack_sums.h"

#include <map>
#include <string>
#include <utility>

#include "analysis/files.h"
#include "analysis/lock_names.h"
#include "analysis/object_sites.h"
#include "graph/false_wakeups.h"
#include "graph/sweep.h"
#include "model/called.h"
#include "model/validate.h"

namespace offwait {

namespace {

/// For each actor the first one with its kind and name.
std::vector<ActorId> first_namesakes(const std::vector<Actor>& actors) {
  std::map<std::pair<ActorKind, std::string>, ActorId> first;
  std::vector<ActorId> out;
  out.reserve(actors.size());
  for (ActorId id = 0; id < actors.size(); ++id) {
    out.push_back(first.try_emplace({actors[id].kind, called(actors[id])}, id).first->second);
  }
  return out;
}

/// Waits and samples that are equal in all of this are added up in one sum. An actor stands for all actors of
/// its kind and name.
struct Key {
  ActorId thread = kNoActor;
  StackId stack = kNoStack;
  ActorId waker = kNoActor;
  StackId waker_stack = kNoStack;
  ObjectId object = kNoObject;
  friend auto operator<=>(const Key&, const Key&) = default;
};
using Amounts = std::map<Key, std::int64_t>;

/// `objects` are those of the sites; empty: waits for different objects are added up.
Amounts sum_waits(const Trace& trace, const std::vector<SiteSum>& site_sums,
                  const std::vector<ObjectSite>& objects, const StackSumOptions& options) {
  const std::vector<ActorId> namesakes = first_namesakes(trace.actors);
  Amounts amounts;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (trace.actors[site.thread].outside) continue;
    Key key{namesakes[site.thread], site.wait_stack};
    if (options.kind == StackKind::off_wake) {
      key.waker = site.waker == kNoActor ? kNoActor : namesakes[site.waker];
      key.waker_stack = site.waker_stack;
    }
    if (!objects.empty()) key.object = objects[id].object;
    const SiteSum& sum = site_sums[id];
    amounts[key] += options.measure == StackMeasure::wait ? sum.wait_ns : sum.weight_ns;
  }
  return amounts;
}

Amounts count_samples(const Trace& trace) {
  const std::vector<ActorId> namesakes = first_namesakes(trace.actors);
  Amounts amounts;
  for (const CpuSample& sample : trace.cpu_samples) {
    const bool inside = sample.at >= trace.window.begin && sample.at < trace.window.end;
    if (!inside || trace.actors[sample.thread].outside) continue;
    ++amounts[{namesakes[sample.thread], sample.stack}];
  }
  return amounts;
}

std::vector<StackSum> with_names(const Trace& trace, const Amounts& amounts) {
  std::vector<StackSum> out;
  out.reserve(amounts.size());
  const FileNames file_names(trace);
  for (const auto& [key, amount] : amounts) {
    StackSum sum{called(trace.actors[key.thread]), key.stack, {}, key.waker_stack, amount};
    if (key.object != kNoObject) {
      if (is_stored(trace.objects[key.object])) {
        sum.stored = file_names(key.object);
      } else {
        sum.lock = name_of_lock(trace, key.object, key.stack);
      }
    }
    if (key.waker != kNoActor) {
      const Actor& waker = trace.actors[key.waker];
      sum.waker = StackWaker{waker.kind, called(waker)};
    }
    out.push_back(std::move(sum));
  }
  return out;
}

}  // namespace

std::vector<StackSum> sampled_stacks(const Trace& trace) { return with_names(trace, count_samples(trace)); }

Result<StackSums> stack_sums(Trace trace, const StackSumOptions& options) {
  const auto sums_of = [&options](const Trace& of, std::vector<StackSum> sums) {
    return StackSums{options.kind, of.frames, of.stacks, std::move(sums)};
  };
  if (options.kind == StackKind::on_cpu) {
    return sums_of(trace, sampled_stacks(trace));
  }
  OFFWAIT_TRY_STATUS(check_window(trace));
  if (!options.keep_false_wakeups) trace = without_false_wakeups(std::move(trace));
  std::vector<ObjectSite> objects;
  if (options.objects) objects = split_by_object(trace);
  OFFWAIT_TRY(const Sweep swept, sweep(trace));
  return sums_of(trace, with_names(trace, sum_waits(trace, swept.sites, objects, options)));
}

}  // namespace offwait
