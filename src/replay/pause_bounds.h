// SPDX-License-Identifier: GPL-2.0-or-later
// About what a program gains if the kernel holds no thread back. It says where such a change stands among the
// others, and no report prints it: what the rest takes under another pace did not show.
#pragma once

#include <vector>

#include "progress/progress.h"
#include "replay/lanes.h"
#include "replay/room.h"
#include "replay/scenario.h"

namespace offwait {

/// A replay keeps all other waits, in their order, and so may show less: of a group commit, threads wait for
/// the one that is held back, and for timers meanwhile. Here, time in which no thread is in such a
/// pause passes as before, though what threads do between long pauses may come side by side; no thread does
/// its work in less time than it ran; and there are as many CPUs as before. Without the pauses, calls are
/// made for more requests at once, and CPUs are kept busy for longer: programs gain less than this, or more.
/// `pause` is of Resource::pause, `weights` are weights_of_speeds().
double most_without(const Change& pause, const ReplayInput& input, const Room& room, const Progress& progress,
                    const std::vector<double>& weights);

}  // namespace offwait
