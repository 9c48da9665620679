// SPDX-License-Identifier: GPL-2.0-or-later
// What a replay, or a simulation, gives: how long the groups took for what they did.
#pragma once

#include <cstddef>
#include <vector>

namespace offwait {

/// What a group's threads did in one piece of the window, summed over the threads by their
/// Uses::thread_weights and by how fast each one is now: neither a thread that sleeps through nor one that a
/// change leaves as it was holds up what its group does. A thread's pace is taken with one of its waits as it
/// was, so that one wait that ends sooner is no pace. By scenario.
struct GroupTime {
  std::vector<double> done_ns;  ///< how long it took in the recording
  std::vector<double> took_ns;  ///< how long it takes now
};

struct Replayed {
  std::size_t scenarios = 0;
  std::vector<std::vector<GroupTime>> pieces;  ///< by piece of the window, then by GroupId
  GroupTime thread;  ///< ReplayInput::thread alone, from its first event to its exit
  double off =
      0;  ///< how much faster or slower it is than the recording without a change, as a part; lanes: 0
};

/// Zeros: nothing is replayed yet.
Replayed nothing_replayed(std::size_t scenarios, std::size_t pieces, std::size_t groups);

/// Adds the scenarios of another part, which is about the same pieces and groups.
void add_scenarios(Replayed& all, const Replayed& part);

/// Divides the times of each scenario by those of the last one, which changes nothing.
void relate_to_last(Replayed& replayed);

}  // namespace offwait
