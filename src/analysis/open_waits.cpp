// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/open_waits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "knot/deadlock.h"
#include "model/backtrace.h"
#include "model/called.h"

namespace offwait {

namespace {

/// A thread that waits for a mutex whose holder is known.
struct HeldWait {
  ActorId thread = kNoActor;
  ActorId holder = kNoActor;
  std::size_t wait = 0;  ///< index into OpenWaits::waits
};

/// Marks the waits of deadlocked threads and returns the circles that these form.
std::vector<Deadlock> find_deadlocks(const Trace& trace, const WaitGraph& graph, std::vector<HeldWait> held,
                                     std::vector<FoundOpenWait>& waits) {
  std::stable_sort(held.begin(), held.end(), [&trace](const HeldWait& a, const HeldWait& b) {
    return trace.actors[a.thread].tid < trace.actors[b.thread].tid;
  });
  std::map<ActorId, std::uint32_t> index;
  for (std::uint32_t i = 0; i < held.size(); ++i) {
    index.emplace(held[i].thread, i);
  }
  std::vector<std::uint32_t> holder;
  for (const HeldWait& one : held) {
    const auto at = index.find(one.holder);
    holder.push_back(at == index.end() ? kHoldsNothing : at->second);
  }
  std::vector<Deadlock> out;
  for (const std::vector<std::uint32_t>& circle : deadlocks(holder)) {
    Deadlock& deadlock = out.emplace_back();
    for (const std::uint32_t i : circle) {
      const Actor& thread = trace.actors[held[i].thread];
      deadlock.threads.push_back(
          {graph.vertex_of[held[i].thread], thread.tid, called(thread), thread.ns_tid});
      waits[held[i].wait].deadlock = true;
    }
  }
  return out;
}

}  // namespace

OpenWaits find_open_waits(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  OpenWaits out;
  std::vector<HeldWait> held;
  for (const Wait& wait : prepared.trace.waits()) {
    if (wait.wake < trace.window.end || wait.block >= trace.window.end) {
      continue;
    }
    const WaitSite& site = trace.sites[wait.site];
    const Actor& thread = trace.actors[site.thread];
    const Nanos ns = clipped(wait.block, thread.exit, trace.window);
    if (thread.exit < trace.window.end || ns == 0) {
      continue;
    }
    const Nanos born = std::max(thread.start, trace.window.begin);
    FoundOpenWait& open = out.waits.emplace_back();
    open.actor = graph.vertex_of[site.thread];
    open.tid = thread.tid;
    open.wait_s = to_seconds(ns);
    open.throughout = wait.block <= born;
    open.wait_class = site.wait_class;
    open.wait_stack = backtrace_of(trace, site.wait_stack);
    // In a shorter wait the lock may have got another holder: the thread that had it when the wait began may
    // have let go of it since.
    if (wait.holder != kNoActor && open.throughout) {
      const Actor& holder = trace.actors[wait.holder];
      open.holder = {graph.vertex_of[wait.holder], holder.tid, called(holder), holder.ns_tid};
      held.push_back({site.thread, wait.holder, out.waits.size() - 1});
    }
  }
  out.deadlocks = find_deadlocks(trace, graph, std::move(held), out.waits);
  std::stable_sort(out.waits.begin(), out.waits.end(),
                   [](const FoundOpenWait& a, const FoundOpenWait& b) { return a.wait_s > b.wait_s; });
  return out;
}

}  // namespace offwait
