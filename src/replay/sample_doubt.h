// SPDX-License-Identifier: GPL-2.0-or-later
// How far CPU samples can be relied on.
#pragma once

#include <cstdint>

#include "replay/code.h"
#include "replay/gain.h"
#include "replay/scenario.h"

namespace offwait {

/// Whether so few samples of a function say nothing of what less CPU work in it gains.
bool are_too_few(std::uint64_t samples);

/// What a function takes on a CPU is known from samples, and the fewer they are the less well: widens the
/// range of what the scenario gains by less work in it, or makes the gain rough.
void allow_for_samples(const CodePart& part, const Scenario& scenario, Gain& gain);

}  // namespace offwait
