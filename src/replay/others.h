// SPDX-License-Identifier: GPL-2.0-or-later
// Programs that were not recorded, as threads of a simulation that want CPUs.
#pragma once

#include <vector>

#include "replay/script.h"

namespace offwait {

/// Threads that together work for `demand` CPUs where nobody else wants them: each all the time and, for what
/// is left over, one that works for part of each few milliseconds. They repeat. `demand` is 0 or more.
std::vector<Script> scripts_of_others(double demand);

}  // namespace offwait
