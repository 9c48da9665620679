// SPDX-License-Identifier: GPL-2.0-or-later
// Times by the wall clock, as logs and dashboards have them, in a recording.
#pragma once

#include "base/nanos.h"
#include "base/result.h"
#include "model/cut.h"

namespace offwait {

/// The part with its times by the wall clock counted from the start of a recording, which has the window
/// `whole` and began at `start` (ns since 1970; 0: not known). A time of day without a date is the one
/// nearest to the middle of the recording. Fails where nothing of the part lies in the recording.
Result<TracePart> counted_from_begin(const TracePart& part, Nanos start, const Window& whole);

}  // namespace offwait
