// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the recorder in recordings of versions that did not name it.
#pragma once

#include "model/trace.h"

namespace offwait {

/// If the recording does not say who recorded (Recording::recorder is 0), the threads outside of the target
/// that are called offwait, or run a program of this name, are the recorder's (Actor::recorder).
void name_recorder(Trace& trace);

}  // namespace offwait
