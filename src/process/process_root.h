// SPDX-License-Identifier: GPL-2.0-or-later
// Opens files by the names that they have for another process, and reads the status of that process.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "process/mapped_files.h"

namespace offwait {

/// A root directory and the mounts below it; stays usable after its process has exited.
struct ProcessRoot {
  using Identity = std::array<std::uint64_t, 3>;  ///< mount namespace, device and inode of the directory
  UniqueFd directory;
  UniqueFd mounts;  ///< keeps the mount namespace alive
  Identity identity{};
};

/// Opens the root directory of a process; returns nothing if the process is gone or may not be looked at.
std::optional<ProcessRoot> open_root(std::int32_t tgid);

enum class Symlinks { follow, refuse };

/// Opens the regular file at this absolute path below the root directory `root`, as open_regular_file() does.
/// Neither `..` nor a symlink leads out of `root`; with Symlinks::refuse the path must not have a symlink.
std::optional<OpenedFile> open_regular_below(int root, const std::string& path, Symlinks symlinks);

struct ProcessStatus {
  std::uint32_t uid = 0;  ///< effective
  std::uint32_t gid = 0;
  std::int32_t own_tgid = 0;         ///< its PID in the innermost PID namespace that it belongs to
  std::uint64_t caught_signals = 0;  ///< bit n - 1: signal n has a handler
};

/// The status of a process; nothing if it is gone.
std::optional<ProcessStatus> process_status(std::int32_t tgid);
/// The text of /proc/TGID/status.
ProcessStatus parse_status(const std::string& text);

}  // namespace offwait
