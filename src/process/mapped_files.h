// SPDX-License-Identifier: GPL-2.0-or-later
// The mappings of a process and the files behind them, read without disturbing the process. The process is
// not trusted: only regular files are opened.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "process/proc_maps.h"

namespace offwait {

/// Device, inode, size and time of change (s, ns). Two descriptors with equal values have the same file,
/// unchanged in between. The inode number alone is not enough, because some filesystems reuse it at once; the
/// time of change cannot be set by hand.
using FileIdentity = std::array<std::int64_t, 5>;

struct OpenedFile {
  UniqueFd fd;       ///< for reading
  std::string path;  ///< the path by which this process opened the file
  FileIdentity identity{};
  std::uint32_t uid = 0;  ///< its owner
  bool is_copy = false;   ///< `fd` is a copy in memory, of a file that may not be asked again (far_files.h)
};

/// The mappings of a process that offwait looks at, in order of address.
struct LookedAtMappings {
  std::vector<Mapping> executable;
  std::vector<Mapping> shared;  ///< see Mapping::shared; a mapping may be in both
};

/// Nothing when the process does not exist or may not be looked at. A process without memory of its own (a
/// zombie, a kernel thread) has no mappings; one whose first thread alone has exited has them.
std::optional<LookedAtMappings> look_at_mappings(std::int32_t tgid);

/// The executable mappings, in order of address; nothing when the process does not exist or may not be looked
/// at. A process without memory of its own (a zombie, a kernel thread) has none.
std::optional<std::vector<Mapping>> executable_mappings(std::int32_t tgid);

/// Opens the mapped file, even if it has been renamed or deleted: through /proc/TGID/map_files (which needs
/// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN), or else by its name, in the root of the process or in ours, if
/// that name still leads to the same file. Returns nothing if there is no file or it may not be read, or if
/// its file system does not answer in time.
std::optional<OpenedFile> open_mapped_file(std::int32_t tgid, const Mapping& mapping);

/// Opens a regular file for reading. Returns nothing for any other kind: opening a device or a pipe may have
/// effects, or block. The name is looked up once, so the file that was checked is the one opened.
std::optional<OpenedFile> open_regular_file(const std::string& path);

/// The bytes of the vdso (or of whatever `mapping` maps) as the process has them; nothing if they are more
/// than 1 MiB or cannot be read.
std::optional<std::string> vdso_image(std::int32_t tgid, const Mapping& mapping);

}  // namespace offwait
