// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>

#include "base/nanos.h"
#include "base/result.h"
#include "capture/recorder.h"
#include "process/priority.h"
#include "session/recording_options.h"
#include "session/target.h"

namespace offwait {

/// The first multiple of `interval` at or after `earliest`, both counted from 1970-01-01 00:00 UTC.
Nanos next_multiple(Nanos earliest, Nanos interval);

/// Attaches, and begins the window: at once, or at the time that RecordingOptions::start_at asks for. Fails
/// also if the target exits meanwhile. A signal ends offwait until then, since there is nothing to report.
/// `priority` is as for Recorder::attach().
Result<Recorder> begin_recording(const CaptureOptions& capture, const RecordingOptions& options,
                                 Target& target, Priority& priority);

}  // namespace offwait
