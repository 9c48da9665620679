// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles for https://www.speedscope.app, by its file-format-schema.json.
#pragma once

#include <string>

#include "export/wait_profile.h"

namespace offwait {

/// Up to three profiles: time waited, weight of waits, and CPU samples if there are any. The outermost frame
/// of each stack is the thread's name.
std::string to_speedscope(const WaitProfile& profile);

}  // namespace offwait
