// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/memory_sink.h"

#include <algorithm>

#include "model/validate.h"
#include "session/host_capacities.h"
#include "session/make_trace.h"
#include "session/object_names.h"
#include "session/recording_steps.h"
#include "session/stack_names.h"

namespace offwait {
namespace {

bool has_target(const Trace& trace) {
  return std::any_of(trace.actors.begin(), trace.actors.end(),
                     [](const Actor& actor) { return actor.kind == ActorKind::thread && !actor.outside; });
}

}  // namespace

Status MemorySink::begin(const AboutRecording& about) {
  about_ = about;
  return success();
}

Status MemorySink::finish(KernelRecording rest, std::vector<std::string>& notes) {
  NamedRecording recording;
  recording.about = about_;
  recording.kernel = std::move(rest);
  KernelRecording& kernel = recording.kernel;
  recording.stacks = name_stacks(kernel.stacks, stacks_in_records(kernel), symbols_);
  std::vector<std::string> device_notes;
  recording.devices = known_devices(kernel, device_notes);
  trace_ = make_trace(recording);
  name_objects(trace_, data_names(nameless_objects(trace_), symbols_));
  if (target_.cgroup && !has_target(trace_)) return Error{nobody_in(*target_.cgroup)};
  // All that follows relies on it.
  OFFWAIT_TRY_STATUS(validate(trace_));
  if (options_.counted && trace_.calls.empty()) notes.push_back(nobody_called(*options_.counted));
  notes.insert(notes.end(), device_notes.begin(), device_notes.end());
  return success();
}

}  // namespace offwait
