// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "recording_file/named_recording.h"
#include "recording_file/recording_writer.h"
#include "session/known_frames.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// The valid trace of what was recorded just now: `recording` has what is known of it, and the records and
/// tables of the kernel with their stacks; this adds all names. Fails if the kernel has reported what cannot
/// have happened. `notes` gets sentences about devices that the user should read. `known`: as name_stacks().
Result<Trace> named_trace(NamedRecording recording, Symbolizer& symbols, std::vector<std::string>& notes,
                          KnownFrames* known = nullptr);

/// Parts of a recording in their order as one; the last part has all tables. Frees the parts as it goes.
KernelRecording joined(std::vector<RecordingPart> parts);

}  // namespace offwait
