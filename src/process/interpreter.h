// SPDX-License-Identifier: GPL-2.0-or-later
// Which script an interpreter runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace offwait {

/// What people call an interpreter that runs a script, `python3 consumer.py`, `python3 -m http.server`,
/// `node server.js`: its own name and that of the script without directories, at most 127 bytes.
/// `command_line` is the text of /proc/PID/cmdline; `comm`, the name of the process, is asked for if the
/// command line is that of an interpreter. Empty if no such interpreter is known; if it runs no script but
/// code of the command line (`sh -c`), or has an option that is not known; and if the process has another
/// name than the interpreter: a script that is run by its own path gives it its name, and others name
/// themselves.
std::string interpreter_title(std::string_view command_line, const std::function<std::string()>& comm);

}  // namespace offwait
