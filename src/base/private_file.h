// SPDX-License-Identifier: GPL-2.0-or-later
// Files that hold what was recorded: command lines, paths and stacks of other users' programs.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// Opens the file to write it, and makes it if there is none. Only its owner may read it (mode 0600), as with
/// perf.data. What it holds stays until the caller empties it.
///
/// Refused: a symbolic link, which somebody else may have laid there (links in /dev are followed if root or
/// this user made them: /dev/stdout, a shell's >(…)), and a file or named pipe of another user, who could
/// read what is written. Terminals, other pipes and devices are written to as they are.
Result<UniqueFd> open_private(const std::string& path);

/// Takes the file for this process until it is closed. Fails if another offwait has taken it. Pipes and
/// devices are nobody's.
Status take_file(int file, const std::string& name);

/// Whether a directory has the file. Memory that is written as a file is in none.
bool is_in_directory(int file);

/// Fails if another program has removed the file, which `was_in_directory`, or cut it so that it has fewer
/// than the `size` bytes that this process wrote. Errors contain `name`.
Status check_unchanged(int file, const std::string& name, std::uint64_t size, bool was_in_directory);

}  // namespace offwait
