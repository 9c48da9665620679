// SPDX-License-Identifier: GPL-2.0-or-later
// Words about what the target read again because memory had no room for it.
#pragma once

#include <string>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// `Up to 98% of what the target read from disks (188 MB) had been in memory before, and was dropped: cgroup
/// /a may use 62.9 MB, and reached that 12,345 times. More memory, if all of it fits there, or less use of it
/// saves these reads; a faster disk makes them shorter.`
std::string memory_text(const FoundMemory& memory, const ActorNames& names);

}  // namespace offwait
