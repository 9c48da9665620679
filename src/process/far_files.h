// SPDX-License-Identifier: GPL-2.0-or-later
// Files on file systems that something else than this kernel answers for: a server on the network, a FUSE
// process. It may not answer, and whoever asks then waits for as long as that lasts. So another process asks,
// for a limited time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "base/unique_fd.h"

namespace offwait {

/// Whether the kernel itself answers for file systems of this type.
bool is_near(std::string_view type);

/// Whether something else answers for the file system of this device (major << 20 | minor), or it is not
/// known what does. Looks at the mounts of the process for a device that it has not seen before.
bool is_far(std::int32_t tgid, std::uint32_t device);
/// The same for the file system that the process has as its root.
bool is_root_far(std::int32_t tgid);

/// A copy of a regular file, in memory.
struct FarFile {
  UniqueFd copy;  ///< for reading
  struct stat status {};
};

/// Copies the file at the path. Returns nothing if the path leads to no file that may be read, if the file is
/// larger than 64 MiB or all copies together than 512 MiB, or if copying takes longer than a second. After
/// such a time-out the file system of `device` is not asked again.
std::optional<FarFile> copy_far_file(const std::string& path, std::uint32_t device);

/// What becomes a note: which file systems did not answer, and what follows. One for each, at most eight.
std::vector<std::string> silent_file_systems();

}  // namespace offwait
