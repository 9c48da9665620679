// SPDX-License-Identifier: GPL-2.0-or-later
// The text of /proc/PID/mountinfo as values. Nothing here opens a file.
#pragma once

#include <string_view>
#include <vector>

#include "event/recording.h"

namespace offwait {

/// Every line of `text` that is one of mountinfo (proc(5)), with its escapes (`\040` …) read.
std::vector<KernelMount> parse_mounts(std::string_view text);

}  // namespace offwait
