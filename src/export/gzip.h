// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace offwait {

/// The bytes as a gzip file (RFC 1952) without a name or a time. Fails only if there is no memory.
Result<std::string> gzip(std::string_view bytes);

}  // namespace offwait
