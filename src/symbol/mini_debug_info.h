// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offwait {

/// Largest `.gnu_debugdata` unpacked, in bytes.
inline constexpr std::size_t kLargestMiniDebugInfo = std::size_t{128} << 20U;

/// Unpacks a `.gnu_debugdata` section (an xz stream that holds an ELF file with a `.symtab`). Returns an
/// Error if it is damaged or unpacks to more than kLargestMiniDebugInfo.
Result<std::string> unpack_mini_debug_info(std::string_view packed);

}  // namespace offwait
