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
  std::vector<std::string> words;   ///< the program, found in PATH, and its arguments
  std::optional<CommandUser> user;  ///< if not who runs offwait
  std::chrono::milliseconds time{10'000};
  std::size_t output = std::size_t{1} << 20U;  ///< bytes
};

/// Runs a program without input and gives its standard output; its standard error is left out. An Error if it
/// cannot be run as that user, ends with another status than 0, or takes longer or writes more than it may;
/// it is then killed, with what it has started.
Result<std::string> run_command(const ExternalCommand& command);

}  // namespace offwait
