// SPDX-License-Identifier: GPL-2.0-or-later
// How far CPU samples can be relied on.
#pragma once

#include "replay/code.h"
#include "replay/gain.h"
#include "replay/scenario.h"

namespace offwait {

/// What a function takes on a CPU is known from samples, and the fewer they are the less well: widens the
/// range of what the scenario gains by less work in it, or makes the gain rough.
void allow_for_samples(const CodePart& part, const Scenario& scenario, Gain& gain);

}  // namespace offwait
