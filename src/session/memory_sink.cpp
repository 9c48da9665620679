// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/memory_sink.h"

#include <algorithm>

#include "session/named_trace.h"
#include "session/recording_steps.h"

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
  std::vector<std::string> device_notes;
  OFFWAIT_TRY(trace_, named_trace(std::move(recording), symbols_, device_notes));
  if (target_.cgroup && !has_target(trace_)) return Error{nobody_in(*target_.cgroup)};
  if (options_.counted && trace_.calls.empty()) notes.push_back(nobody_called(*options_.counted));
  notes.insert(notes.end(), device_notes.begin(), device_notes.end());
  return success();
}

}  // namespace offwait
