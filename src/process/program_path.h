// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/result.h"

namespace offwait {

/// Shells end with these when they cannot run what they were told to.
inline constexpr int kCommandNotExecutable = 126;
inline constexpr int kCommandNotFound = 127;

/// `cannot run NAME: reason`, with the exit status that goes with `error`, an errno of exec.
Error cannot_run(const std::string& name, int error);

/// The file that a shell would execute for `name`: itself if it has a slash, else the first in PATH that may
/// be executed. An error is cannot_run().
Result<std::string> program_path(const std::string& name);

}  // namespace offwait
