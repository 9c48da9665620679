// SPDX-License-Identifier: GPL-2.0-or-later
// A recording session, from what the user names to a trace with names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "session/recording_options.h"

namespace offwait {

struct Recorded {
  Trace trace;
  std::vector<std::string> notes;     ///< what the user should know about it; hostile bytes
  std::optional<int> command_status;  ///< if it was a command: the status for offwait to exit with
};

/// Records the target until the duration is over, the target exits, or SIGINT or SIGTERM arrives. What can
/// be checked is checked before the recording begins; the caller gets an Error then. Shows progress on
/// standard error if that is a terminal and `quiet` is off. Signals work as before when it returns.
///
/// A command has ended when this returns: one that still runs at the end is sent SIGTERM. While a command
/// runs no progress is shown, because the command may write to the terminal itself.
///
/// Gives up capabilities on the way (capture/privileges.h), so a process can record once.
Result<Recorded> record(const RecordingOptions& options);

}  // namespace offwait
