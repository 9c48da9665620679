// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "capture/recorder.h"
#include "session/recording_options.h"
#include "session/target.h"

namespace offwait {

/// The places to probe: the functions of --spin and --progress-at, and what the program declares itself
/// (annotate.h). Looks in the files that the target's processes have mapped, or, for a command that has not
/// run yet (`command_path` is not empty), in its executable alone; where --progress-at has a path, in that
/// file. An Error if a function is not found.
Result<std::vector<Probe>> find_probes(const Target& target, const std::string& command_path,
                                       const RecordingOptions& options);

}  // namespace offwait
