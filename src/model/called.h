// SPDX-License-Identifier: GPL-2.0-or-later
// What threads and processes are called.
#pragma once

#include <string>
#include <string_view>

#include "model/trace.h"

namespace offwait {

/// What an actor is called: its title, without its clients; the comm of a thread without title; the name of a
/// device. Of several words in a title that end in a colon only the first one stays: `postgres: 15/main:
/// walwriter` is `postgres: walwriter`. Hostile bytes.
std::string called(const Actor& actor);

/// Follows the name of a thread that stands for other threads as well, which have other names and do the
/// same.
inline constexpr std::string_view kAndOthers = " etc.";

/// Equal for threads whose names or titles differ at most in their clients and in digits.
std::string alike(const Actor& actor);

/// Whether a title is that of an interpreter with its script, `python3 app.py`, and not one that the process
/// has set itself, `nginx: worker process`.
bool names_script(std::string_view title);

/// Whether a thread called `name` of a process with this title has it as well: the main thread; and one that
/// is still called like the interpreter whose script the process runs.
bool has_title(std::string_view title, std::string_view name, bool is_main);

/// The part of a title that processes doing the same for several clients have in common: the words up to the
/// first one with a bracket, which names a client or says what is done for it, and none of them twice in a
/// row. `postgres: app app 10.0.0.7(4711) idle` is `postgres: app`.
std::string without_client(std::string_view title);

/// The name with each run of digits replaced by one `0`. It is equal for names that differ at most in digits.
std::string name_pattern(std::string_view name);

/// Whether the user names the thread with this pattern of a shell (fnmatch(3)): by its comm, or by what it is
/// called.
bool is_called(const Actor& actor, const std::string& pattern);

}  // namespace offwait
