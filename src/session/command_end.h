// SPDX-License-Identifier: GPL-2.0-or-later
// How a recorded command ends, and what offwait then ends with.
#pragma once

#include <optional>
#include <string>

#include "process/held_command.h"
#include "session/interruption.h"

namespace offwait {

/// Waits for the command, which has ended or was sent SIGTERM, and says on stderr that it waits if that takes
/// long and `quiet` is off. A signal to offwait meanwhile kills it. What waitpid(2) says of it.
int await_end(HeldCommand& command, const Interruption& interruption, bool quiet);

/// As a shell's: its own status, or 128 + the signal that ended it; but 0 if it died of the SIGTERM or SIGINT
/// that told it to end (`told`).
int exit_status_of(int wait_status, bool told);

/// A sentence about a command that died of a signal, unless told to.
std::optional<std::string> death_of(int wait_status, bool told);

}  // namespace offwait
