// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// By FrameId: equal for all places of one function.
std::vector<std::uint32_t> functions_of_frames(const Trace& trace);

}  // namespace offwait
