// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "model/trace.h"

namespace offwait {

struct Recorded {
  Trace trace;
  std::vector<std::string> notes;     ///< what the user should know about it; hostile bytes
  std::optional<int> command_status;  ///< if it was a command: what offwait is to end with
};

/// Records the target until the duration is over, the target exits, or SIGINT or SIGTERM arrives; shows
/// progress on stderr when that is a terminal and `quiet` is off. Signals work as before when it returns. A
/// command has then ended: one that has not by itself is sent SIGTERM. Of a command there is no progress,
/// since it may write to the terminal itself.
Result<Recorded> record(const Options& options);

}  // namespace offwait
