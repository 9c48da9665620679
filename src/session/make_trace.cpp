// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/make_trace.h"

#include <algorithm>
#include <utility>

#include "event/assemble.h"
#include "event/first_run.h"
#include "model/never_seen.h"
#include "model/recorder.h"
#include "session/object_names.h"

namespace offwait {

Trace make_trace(NamedRecording& recording) {
  const AboutRecording& about = recording.about;
  KernelRecording& kernel = recording.kernel;
  std::exchange(kernel.stacks, {});
  // Before its release a command only waited for offwait, so the window begins later.
  if (about.command != 0) kernel.window.begin = std::min(first_run(kernel, about.command), kernel.window.end);
  Trace trace = assemble(std::move(kernel), recording.stacks);
  name_recorder(trace);
  forget_never_seen(trace);
  name_objects(trace, recording.data);
  Recording& described = trace.recording;
  described.target = about.target;
  described.start_time = about.start_time;
  described.kernel = about.kernel;
  described.cpus = about.cpus;
  described.offwait = about.offwait;
  described.command = about.command;
  described.host = about.host;
  described.labels = about.labels;
  add_capacities(recording.devices, trace);
  return trace;
}

}  // namespace offwait
