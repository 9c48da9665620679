// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// Where files go that are too large for memory: $TMPDIR if it is an absolute path, else /var/tmp.
std::string overflow_directory();

/// An empty file in this directory, to be written and read. It has no name, so that it is gone with this
/// process.
Result<UniqueFd> nameless_file(const std::string& directory);

}  // namespace offwait
