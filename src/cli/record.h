// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "model/trace.h"

namespace offwait {

struct Recorded {
  Trace trace;
  std::vector<std::string> notes;  ///< what the user should know about it; hostile bytes
};

/// Records the target until the duration is over, the target exits, or SIGINT or SIGTERM arrives; shows
/// progress on stderr when that is a terminal and `quiet` is off. Signals work as before when it returns.
Result<Recorded> record(const Options& options);

}  // namespace offwait
