// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/never_seen.h"

#include <vector>

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
  const auto known = [&found](ActorId id) {
    if (id != kNoActor) found[id] = false;
  };
  for (const WaitSite& site : trace.sites) {
    known(site.thread);
    known(site.waker);
  }
  for (const Wait& wait : trace.waits) known(wait.holder);
  for (const Gap& gap : trace.gaps) known(gap.thread);
  for (const FalseMark& mark : trace.false_marks) known(mark.thread);
  for (const CpuSample& sample : trace.cpu_samples) known(sample.thread);
  for (const DiskIo& io : trace.disk_ios) known(io.thread);
  for (const Responses& responses : trace.responses) known(responses.thread);
  for (const Calls& calls : trace.calls) known(calls.thread);
  for (const Actor& actor : trace.actors) known(actor.parent);
  std::erase_if(trace.preemptions, [&found](const Preemption& one) { return found[one.thread]; });
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (found[id]) trace.actors[id].seen = trace.window.end;
  }
}

}  // namespace offwait
