// SPDX-License-Identifier: GPL-2.0-or-later
// Debug sections that are compressed with zstd (SHF_COMPRESSED, ELFCOMPRESS_ZSTD). libelf unpacks them from
// version 0.189 on; Debian 12 has 0.188.
#pragma once

#include <vector>

#include <libelf.h>

namespace offwait {

/// Unpacks them in the handle, so that libdw finds plain sections there. The file must be mapped privately
/// (map_elf()), because their headers change. The handle refers to what this returns. Sections that are
/// damaged, or that would make more than 1 GiB together, stay as they are. Reads hostile bytes, so it must
/// run in a confined process.
std::vector<std::vector<char>> unpack_zstd_sections(Elf* elf);

}  // namespace offwait
