// SPDX-License-Identifier: GPL-2.0-or-later
// What program a process runs, and what it says of itself.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offwait {

struct ProcessProgram {
  std::string path;   ///< of the executable, as /proc/PID/exe names it; empty: not known
  std::string title;  ///< title_in() of its command line, or interpreter_title(); empty: none
  // clang-tidy 14 takes its own 0 for one of ours.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ProcessProgram&, const ProcessProgram&) = default;
};

/// Reads what a process runs; nothing if the process is gone, has no executable (a kernel thread), or may not
/// be looked at.
std::optional<ProcessProgram> read_program(std::int32_t tgid);

/// The title that a process has set in the text of its /proc/PID/cmdline, `postgres: walwriter`: the whole
/// command line is one text, in which a word that ends in a colon comes first (setproctitle(3)). It has no
/// blanks at its end and at most 127 bytes. Empty if the command line is a list of arguments.
std::string title_in(std::string_view command_line);

}  // namespace offwait
