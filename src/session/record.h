// SPDX-License-Identifier: GPL-2.0-or-later
// A recording session, from the user's options to a trace with names.
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
  std::vector<std::string> notes;     ///< sentences that the user should read; hostile bytes
  std::optional<int> command_status;  ///< for a command: the exit status for offwait
};

/// Records the target until the duration is over, the target exits, or SIGINT or SIGTERM arrives. Everything
/// that can be checked in advance is checked before the recording begins, and fails with an Error then.
/// Progress is shown on standard error if that is a terminal and `quiet` is off. When this returns, signals
/// work as before.
///
/// A command has ended when this returns: if it still runs at the end, it is sent SIGTERM. No progress is
/// shown for a command, because it may write to the terminal itself.
///
/// This gives up capabilities on the way (capture/privileges.h), so a process can record only once.
Result<Recorded> record(const RecordingOptions& options);

}  // namespace offwait
