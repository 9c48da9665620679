// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options.h"

namespace offwait {

/// Measures the disk that is, or has, `options.input` and stores what it can do. Says on stderr what it will
/// do unless `quiet`. A device is only read. On a path it writes to a file of its own, which has no name any
/// more while it is used: however the process ends, nothing is left. Gives what was measured, as lines to
/// print. An error leaves what was stored before.
Result<std::string> calibrate(const Options& options);

}  // namespace offwait
