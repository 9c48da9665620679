// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/recorder.h"

#include <string_view>

namespace offwait {
namespace {

constexpr std::string_view kOwnName = "offwait";

bool is_own(const Actor& thread) {
  const std::string_view program = thread.program;
  return thread.name == kOwnName || program.substr(program.rfind('/') + 1) == kOwnName;
}

}  // namespace

void name_recorder(Trace& trace) {
  if (trace.recording.recorder != 0) return;
  for (Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread && actor.outside && !actor.kernel && is_own(actor))
      actor.recorder = true;
  }
}

}  // namespace offwait
