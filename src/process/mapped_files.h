// SPDX-License-Identifier: GPL-2.0-or-later
// Looking at what a process has mapped without doing anything to it: its mappings, and the files behind them.
// The process is not trusted; what is opened is always a regular file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "process/proc_maps.h"

namespace offwait {

/// Device, inode, size and time of change (s, ns): equal for two descriptors of one file that did not change
/// between. Some filesystems reuse an inode number at once; the time of change cannot be set by hand.
using FileIdentity = std::array<std::int64_t, 5>;

struct OpenedFile {
  UniqueFd fd;       ///< for reading
  std::string path;  ///< opened it, from this process
  FileIdentity identity{};
  std::uint32_t uid = 0;  ///< its owner
};

/// The executable mappings, in order of address; nothing when the process does not exist, is gone or may not
/// be looked at. A process without memory of its own (a zombie, a kernel thread) has none.
std::optional<std::vector<Mapping>> executable_mappings(std::int32_t tgid);

/// The file that is mapped, whatever has become of its name: by /proc/TGID/map_files (which needs
/// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN), else by its name in the root of the process or in ours if it is
/// the very file there. Nothing if there is none or it may not be read.
std::optional<OpenedFile> open_mapped_file(std::int32_t tgid, const Mapping& mapping);

/// Nothing unless it is a regular file: opening a device or a pipe may have effects, or wait. The name is
/// looked up once.
std::optional<OpenedFile> open_regular_file(const std::string& path);

/// The bytes of the vdso (or of whatever `mapping` maps) as the process has them; nothing if they are more
/// than 1 MiB or cannot be read.
std::optional<std::string> vdso_image(std::int32_t tgid, const Mapping& mapping);

}  // namespace offwait
