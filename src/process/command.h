// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace offwait {

struct CommandUser {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

struct ExternalCommand {
  std::vector<std::string> words;              ///< the program, found in PATH, and its arguments
  std::optional<CommandUser> user;             ///< runs the command; none: the user who runs offwait
  std::chrono::milliseconds time{10'000};      ///< the longest that it may run
  std::size_t output = std::size_t{1} << 20U;  ///< the most bytes that it may write
};

/// Runs a program without input and returns its standard output; its standard error is discarded. Returns an
/// Error if the program cannot be run as that user, exits with a status other than 0, runs for too long or
/// writes too much. In the last two cases it is killed, together with the processes that it started.
Result<std::string> run_command(const ExternalCommand& command);

}  // namespace offwait
