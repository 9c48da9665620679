// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace offwait {

// Both fail only if there is no memory.

/// The bytes as a gzip file (RFC 1952) without a name or a time.
Result<std::string> gzip(std::string_view bytes);
/// A deflate stream without a header (RFC 1951), as DecompressionStream('deflate-raw') reads it.
Result<std::string> deflate_raw(std::string_view bytes);

}  // namespace offwait
