// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace offwait::cli {

/// Reads a recording and writes it in the form that the options name. Adds to the notes what had no effect.
Status export_recording(const ExportOptions& options, std::vector<std::string>& notes);

}  // namespace offwait::cli
