// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/origins.h"

#include <algorithm>

namespace offwait {

std::vector<ActorId> origins_of(const Trace& trace) {
  std::vector<ActorId> out(trace.actors.size(), kNoActor);
  std::vector<bool> asked(trace.actors.size());
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread || std::max(actor.start, actor.seen) <= trace.window.begin) continue;
    if (actor.seen <= actor.start && actor.parent != kNoActor) {
      out[id] = actor.parent;
    } else {
      asked[id] = true;
    }
  }
  if (std::find(asked.begin(), asked.end(), true) == asked.end()) return out;
  std::vector<Nanos> first(trace.actors.size(), kNever);
  const auto meet = [&](ActorId thread, ActorId other, Nanos at) {
    if (asked[thread] && at < first[thread]) {
      first[thread] = at;
      out[thread] = other;
    }
  };
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (site.waker == kNoActor || trace.actors[site.waker].kind != ActorKind::thread) continue;
    meet(site.thread, site.waker, wait.wake);
    meet(site.waker, site.thread, wait.wake);
  }
  return out;
}

}  // namespace offwait
