// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/result.h"

namespace offwait {

/// The exit statuses of shells for a command that cannot be executed or is not found.
inline constexpr int kCommandNotExecutable = 126;
inline constexpr int kCommandNotFound = 127;

/// `cannot run NAME: reason`, with the exit status that belongs to `error`, an errno of exec.
Error cannot_run(const std::string& name, int error);

/// The file that a shell would execute for `name`: `name` itself if it has a slash, else the first file in
/// PATH that may be executed. Fails as cannot_run() says.
Result<std::string> program_path(const std::string& name);

}  // namespace offwait
