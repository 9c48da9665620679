// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/code_uses.h"
#include "analysis/functions.h"
#include "analysis/samples.h"
#include "model/called.h"
#include "model/function_numbers.h"

namespace offwait {

namespace {

CriticalCause cause_of(std::optional<WaitClass> wait_class) {
  if (!wait_class) return CriticalCause::unknown;
  switch (*wait_class) {
    case WaitClass::futex:
    case WaitClass::lock:
      return CriticalCause::lock;
    case WaitClass::disk:
    case WaitClass::net:
    case WaitClass::pipe:
      return CriticalCause::io;
    case WaitClass::spin:
      return CriticalCause::spinning;
    default:
      return CriticalCause::unknown;
  }
}

/// Sums of fractions of nanoseconds may be off by this much.
constexpr double kRounding = 0.01;

bool is_file_activity(WaitClass wait_class) {
  return wait_class == WaitClass::disk || wait_class == WaitClass::pipe || wait_class == WaitClass::fault;
}

/// Criticality by stack. Stacks that differ in offsets and lines only are one, shown as the one with most.
class ByPlace {
 public:
  ByPlace(const Trace& trace, const std::vector<std::uint32_t>& functions)
      : trace_(trace), functions_(functions) {}

  void add(StackId stack, std::optional<WaitClass> wait_class, double critical_ns, std::uint64_t count,
           ObjectId object = kNoObject) {
    if (critical_ns <= 0) return;
    Key key{wait_class, object, {}};
    if (stack != kNoStack) {
      for (const FrameId frame : trace_.stacks[stack].frames) std::get<2>(key).push_back(functions_[frame]);
    }
    Sum& sum = sums_[key];
    sum.found.critical_s += critical_ns / 1e9;
    sum.found.count += count;
    sum.found.wait_class = wait_class;
    sum.found.cause = cause_of(wait_class);
    if (critical_ns > sum.most_ns) {
      sum.most_ns = critical_ns;
      sum.stack = stack;
    }
  }

  std::vector<FoundCriticalStack> sorted() const {
    std::vector<FoundCriticalStack> out;
    for (const auto& [key, sum] : sums_) {
      out.push_back(sum.found);
      out.back().stack = backtrace_of(trace_, sum.stack);
      if (const ObjectId object = std::get<1>(key); object != kNoObject) {
        out.back().file = trace_.objects[object];
      }
    }
    std::stable_sort(out.begin(), out.end(), [](const FoundCriticalStack& a, const FoundCriticalStack& b) {
      return a.critical_s > b.critical_s;
    });
    return out;
  }

 private:
  using Key = std::tuple<std::optional<WaitClass>, ObjectId, std::vector<std::uint32_t>>;
  struct Sum {
    FoundCriticalStack found;
    StackId stack = kNoStack;
    double most_ns = 0;
  };
  const Trace& trace_;
  const std::vector<std::uint32_t>& functions_;
  std::map<Key, Sum> sums_;
};

}  // namespace

std::string_view to_string(CriticalCause cause) {
  switch (cause) {
    case CriticalCause::lock:
      return "lock";
    case CriticalCause::io:
      return "io";
    case CriticalCause::spinning:
      return "spinning";
    case CriticalCause::unknown:
      return "unknown";
  }
  return "unknown";
}

FoundThreads critical_threads(const Trace& trace, const CodeUses& uses, const Criticality& criticality) {
  FoundThreads out;
  std::map<ActorId, FoundCriticalThread> threads;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread || actor.outside) continue;
    FoundCriticalThread& thread = threads[id];
    thread.tid = actor.tid;
    thread.name = called(actor);
    thread.critical_s = criticality.threads[id].critical_ns / 1e9;
    thread.time.cpu_s = to_seconds(criticality.threads[id].running_ns);
    thread.time.runnable_s = to_seconds(criticality.threads[id].runnable_ns);
    out.preempted_s += criticality.threads[id].preempted_ns / 1e9;
  }
  const std::vector<std::uint32_t> functions = functions_of_frames(trace);
  ByPlace stacks(trace, functions);
  ByPlace wakers(trace, functions);
  ByPlace files(trace, functions);
  std::vector<Criticality::ForFile> for_files(trace.sites.size());
  for (const auto& [at, sum] : criticality.ended_for) {
    const auto& [site, object] = at;
    for_files[site].critical_ns += sum.critical_ns;
    for_files[site].slices += sum.slices;
    files.add(trace.sites[site].wait_stack, trace.sites[site].wait_class, sum.critical_ns, sum.slices,
              object);
  }
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const auto thread = threads.find(site.thread);
    if (thread != threads.end()) {
      WaitSum sum = uses.waits[id];
      sum.runnable_ns = 0;  // the thread has all of it
      add_wait(thread->second.time, site.wait_class, sum);
      if (uses.requests[id]) thread->second.requests_s += to_seconds(sum.wait_ns);
      stacks.add(site.wait_stack, site.wait_class, criticality.ended_by[id], sum.ended);
      if (is_file_activity(site.wait_class)) {
        const Criticality::ForFile& named = for_files[id];
        const double unnamed_ns = criticality.ended_by[id] - named.critical_ns;
        if (unnamed_ns > kRounding) {
          files.add(site.wait_stack, site.wait_class, unnamed_ns,
                    sum.ended - std::min(sum.ended, named.slices));
        }
      }
    }
    if (site.wait_class == WaitClass::futex) {
      wakers.add(site.waker_stack, site.wait_class, criticality.woken_from[id], uses.waits[id].ended);
    }
  }
  for (std::size_t i = 0; i < trace.cpu_samples.size(); ++i) {
    stacks.add(trace.cpu_samples[i].stack, std::nullopt, criticality.ended_near[i], 1);
  }
  for (auto& [id, thread] : threads) out.rows.push_back(std::move(thread));
  std::stable_sort(
      out.rows.begin(), out.rows.end(),
      [](const FoundCriticalThread& a, const FoundCriticalThread& b) { return a.critical_s > b.critical_s; });
  out.critical_s = criticality.total_ns / 1e9;
  out.some_active_s = to_seconds(criticality.some_active);
  out.mean_active = criticality.mean_active;
  out.stacks = stacks.sorted();
  out.wakers = wakers.sorted();
  out.files = files.sorted();
  return out;
}

}  // namespace offwait
