// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options.h"

namespace offwait {

/// Measures the disk that is, or has, `options.place` and stores what it can do. Says on stderr what it will
/// do unless `quiet`. A device is only read. On a path, the measurement writes to a file that has no name
/// while it is used, so nothing is left however the process ends. Returns what was measured, as lines to
/// print. After an error the store is as it was.
Result<std::string> calibrate(const cli::CalibrateOptions& options);

}  // namespace offwait
