// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for the end of a recorded command, and derives offwait's own exit status from it.
#pragma once

#include <optional>
#include <string>

#include "process/held_command.h"
#include "session/interruption.h"

namespace offwait {

/// Waits for a command that has ended or was sent SIGTERM, and returns its status as waitpid(2) gives it. If
/// that takes more than a second, a line on standard error says so, unless `quiet`. A signal to offwait
/// during the wait kills the command.
int await_end(HeldCommand& command, const Interruption& interruption, bool quiet);

/// The exit status that a shell would give: the command's own status, or 128 + the signal that ended it. It
/// is 0 if the command died of the SIGTERM or SIGINT that told it to end (`told`).
int exit_status_of(int wait_status, bool told);

/// A sentence about a command that died of a signal, unless it was `told` to end by that signal.
std::optional<std::string> death_of(int wait_status, bool told);

}  // namespace offwait
