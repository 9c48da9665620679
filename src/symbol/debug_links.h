// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what an ELF file says about the place of its debug information.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace offwait {

struct DebugLinks {
  std::string build_id;    ///< 64 bytes at most
  bool has_lines = false;  ///< the file itself has DWARF
  /// .gnu_debuglink: a file name without directories, and the CRC-32 of that file.
  std::string debuglink;
  std::uint32_t debuglink_crc = 0;
  /// .gnu_debugaltlink: the file into which dwz has moved what several files share, and its build id.
  std::string supplement;
  std::string supplement_build_id;
};

/// Reads hostile bytes, so it must run in a confined process.
Result<DebugLinks> read_debug_links(int fd);

}  // namespace offwait
