// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/never_seen.h"

#include <vector>

#include "model/thread_references.h"

namespace offwait {

void forget_never_seen(Trace& trace) {
  std::vector<bool> found(trace.actors.size());
  bool any = false;
  for (const Preemption& one : trace.preemptions) {
    const Actor& actor = trace.actors[one.thread];
    if (one.out != trace.window.begin || one.run != kNever) continue;
    if (actor.exit != kNever || actor.start >= trace.window.begin) continue;
    found[one.thread] = any = true;
  }
  if (!any) return;
  tell_references(trace, [&found](ActorId id) { found[id] = false; });
  for (const Actor& actor : trace.actors) {
    if (actor.parent != kNoActor) found[actor.parent] = false;
  }
  std::erase_if(trace.preemptions, [&found](const Preemption& one) { return found[one.thread]; });
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (found[id]) trace.actors[id].seen = trace.window.end;
  }
}

}  // namespace offwait
