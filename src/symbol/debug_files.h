// SPDX-License-Identifier: GPL-2.0-or-later
// Finds debug information that is kept in files of its own.
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
  bool lost = false;     ///< reading the file crashed or took too long, so nothing was looked for
  bool in_file = false;  ///< the file has DWARF itself, so nothing was looked for
  std::optional<OpenedFile> debug;
  std::optional<OpenedFile> supplement;
};

/// The path of the debug file with this build id (in hexadecimal digits), or empty.
using DebugServer = std::function<std::string(const std::string& build_id)>;

/// For each file the debug information that was stripped from it. It is looked for by build id below
/// /usr/lib/debug/.build-id, then by .gnu_debuglink beside the file, in its .debug directory and below
/// /usr/lib/debug, then on the server if there is one. A debug file must have the same build id; if neither
/// file has one, the checksum that the link gives (files of 1 GiB at most). What dwz has moved out of it (the
/// supplement) is looked for at the place and with the build id that the debug file names. All files are read
/// in confined processes.
std::vector<DebugFiles> find_debug_files(const std::vector<StrippedFile>& files, const DebugServer& server);

/// The build ids of files in hexadecimal digits, read in confined processes; empty for a file without one.
std::vector<std::string> build_ids(const std::vector<int>& files);

}  // namespace offwait
