// SPDX-License-Identifier: GPL-2.0-or-later
// What a change gains where the recording does not show who waits for whom.
#pragma once

#include "replay/gain.h"
#include "replay/gains.h"
#include "replay/lanes.h"
#include "replay/room.h"
#include "replay/scenario.h"

namespace offwait {

/// What a scenario gains if all that it saves lies on one path through the window, as far as the CPUs and
/// disks allow, and what it loses if all that it takes longer does. No path is longer than the window, so a
/// part that several threads took at a time is on it for as long as one of them, at most; a part whose time
/// is not known may be all of it.
///
/// Tasks that a runtime's threads run in turns (Runtime) may wait for each other one after the other, though
/// their threads go on with other tasks meanwhile and never wait.
GainRange gains_on_one_path(const ReplayInput& input, const Scenario& scenario, const Room& room);

/// The gain is approximate, and its range reaches as far as these.
void allow_for_one_path(const ReplayInput& input, const Scenario& scenario, const Room& room, Gain& gain);

}  // namespace offwait
