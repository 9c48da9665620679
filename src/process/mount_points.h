// SPDX-License-Identifier: GPL-2.0-or-later
// The text of /proc/PID/mountinfo as values. Nothing here opens a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

struct MountPoint {
  std::uint32_t dev = 0;  ///< major << 20 | minor, as the kernel has it
  std::string root;       ///< what of the file system is mounted; hostile bytes, like the next ones
  std::string path;       ///< where
  std::string type;       ///< `ext4`, `fuse.sshfs`; empty: not told
  friend bool operator==(const MountPoint&, const MountPoint&) = default;
};

/// Every line of `text` that is one of mountinfo (proc(5)), with its escapes (`\040` …) read.
std::vector<MountPoint> parse_mounts(std::string_view text);

}  // namespace offwait
