// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads the records of a trace are about.
#pragma once

#include "model/trace.h"

namespace offwait {

/// Calls `tell(ActorId)` for each actor that a record names, as often as one does: waits, their wakers and
/// holders, gaps, false marks, samples, requests, responses and calls. Preemptions are left out, and so are
/// parents.
template <class Tell>
void tell_references(const Trace& trace, const Tell& tell) {
  const auto tell_known = [&tell](ActorId id) {
    if (id != kNoActor) tell(id);
  };
  for (const WaitSite& site : trace.sites) {
    tell_known(site.thread);
    tell_known(site.waker);
  }
  for (const Wait& wait : trace.waits) tell_known(wait.holder);
  for (const Gap& gap : trace.gaps) tell_known(gap.thread);
  for (const FalseMark& mark : trace.false_marks) tell_known(mark.thread);
  for (const CpuSample& sample : trace.cpu_samples) tell_known(sample.thread);
  for (const DiskIo& io : trace.disk_ios) tell_known(io.thread);
  for (const Responses& responses : trace.responses) tell_known(responses.thread);
  for (const Calls& calls : trace.calls) tell_known(calls.thread);
}

}  // namespace offwait
