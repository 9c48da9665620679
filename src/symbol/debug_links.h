// SPDX-License-Identifier: GPL-2.0-or-later
// Where the debug information of an ELF file is, as the file itself says.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace offwait {

struct DebugLinks {
  std::string build_id;    ///< 64 bytes at most
  bool has_lines = false;  ///< DWARF is in the file itself
  /// .gnu_debuglink: a file name without directories, and the CRC-32 of that file.
  std::string debuglink;
  std::uint32_t debuglink_crc = 0;
  /// .gnu_debugaltlink: where dwz has put what several files have in common, and its build id.
  std::string supplement;
  std::string supplement_build_id;
};

/// Reads hostile bytes: for confined processes.
Result<DebugLinks> read_debug_links(int fd);

}  // namespace offwait
