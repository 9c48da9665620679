// SPDX-License-Identifier: GPL-2.0-or-later
// offwait top: a screen that shows a recording while it goes on, or while it is replayed from a file.
#pragma once

#include "base/result.h"
#include "cli/options.h"

namespace offwait::cli {

/// Shows until the user quits; with --once and --batch, writes text to standard output instead. `color`:
/// whether the user wants any. Notes get sentences for the user, when the terminal is as it was.
Status top(const TopOptions& options, bool color, std::vector<std::string>& notes);

}  // namespace offwait::cli
