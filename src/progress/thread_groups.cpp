// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/thread_groups.h"

#include "graph/thread_kinds.h"
#include "model/called.h"

namespace offwait {

ThreadGroups group_threads(const Trace& trace) {
  ThreadGroups out;
  out.group_of = thread_kinds(trace);
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const GroupId group = out.group_of[id];
    if (group == kNoGroup) {
      continue;
    }
    const Actor& actor = trace.actors[id];
    if (group == out.groups.size()) {
      out.groups.push_back({called(actor), {}, actor.outside, actor.kernel, actor.recorder});
    }
    out.groups[group].members.push_back(id);
  }
  return out;
}

}  // namespace offwait
