// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace offwait {

/// Index into Findings::actors.
using FoundActorId = std::uint32_t;
/// Index into Findings::edges.
using FoundEdgeId = std::uint32_t;

}  // namespace offwait
