// SPDX-License-Identifier: GPL-2.0-or-later
// Finds who shares a disk, or its syncs, with the threads that an answer is about.
#pragma once

#include "analysis/findings.h"

namespace offwait {

/// Fills in FoundAnswer::other_user and FoundAnswer::shares_syncs. Needs the findings' answers, knots, disks
/// and actors.
void find_disk_sharing(Findings& findings);

}  // namespace offwait
