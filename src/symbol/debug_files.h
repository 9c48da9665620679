// SPDX-License-Identifier: GPL-2.0-or-later
// Debug information that is apart from the program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "process/mapped_files.h"

namespace offwait {

struct StrippedFile {
  int fd = -1;
  std::string path;        ///< as its process names it
  std::vector<int> roots;  ///< directories below which to look, in this order
};

struct DebugFiles {
  bool in_file = false;  ///< the file has its DWARF itself: nothing was looked for
  std::optional<OpenedFile> debug;
  std::optional<OpenedFile> supplement;
};

/// The path of the debug file with this build id (in hexadecimal digits), or empty.
using DebugServer = std::function<std::string(const std::string& build_id)>;

/// For each file what it was stripped of: by build id below /usr/lib/debug/.build-id, then by .gnu_debuglink
/// beside the file, in its .debug directory and below /usr/lib/debug, then from the server if there is one. A
/// debug file has the same build id; if neither has one, the checksum that the link says. What dwz has taken
/// out of it is looked for where it says, and has the build id that it says. What files say is read in
/// confined processes.
std::vector<DebugFiles> find_debug_files(const std::vector<StrippedFile>& files, const DebugServer& server);

}  // namespace offwait
