// SPDX-License-Identifier: GPL-2.0-or-later
// Simulates a recording's scripts on a number of CPUs with a fair scheduler. Where the CPUs are short, a
// change alters how long threads queue for them: lanes (lanes.h) keep that time, the simulation finds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "replay/lanes.h"
#include "replay/scenario.h"
#include "replay/script.h"

namespace offwait {

/// Simulates each scenario that is `wanted` for as long as the scripts took in the recording. The times of
/// the others are 0. Threads that lived throughout begin their scripts anew when they are over. Equal input
/// gives equal results. Up to four threads simulate, each its own scenarios.
///
/// Other programs are threads that want CPUs as well (scripts_of_others()). There are as many as are needed
/// to get what the programs got in the recording, if that is known. A thread's time counts from its birth to
/// its exit.
///
/// The scheduler runs the thread that ran least; a thread that is woken preempts one that ran more by 1 ms,
/// and none runs for more than 3 ms while others wait.
///
/// ReplayInput::thread is simulated until its exit, also when that comes later than in the recording.
///
/// `is_believed`, if there is one, is called as soon as the last scenario has been simulated, which is the
/// first one to be. It gets a Replayed that has the times of that scenario.
///
/// Returns nothing if a simulation takes far more moves than the scripts have steps, and so is given up, or
/// if `is_believed` returns false.
std::optional<Replayed> simulate(const ReplayInput& input, const Scripts& scripts,
                                 const std::vector<Scenario>& scenarios, const std::vector<bool>& wanted,
                                 std::size_t pieces,
                                 const std::function<bool(const Replayed&)>& is_believed = {});

}  // namespace offwait
