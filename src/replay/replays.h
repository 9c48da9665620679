// SPDX-License-Identifier: GPL-2.0-or-later
// All that is replayed for the answers of one recording.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "replay/lanes.h"
#include "replay/more_cpus.h"
#include "replay/scenario.h"

namespace offwait {

/// Divides the times of each scenario by those of the last one, which changes nothing.
void relate_to_last(Replayed& replayed);

/// What was replayed. The scenarios are AnswerOptions::asked, two for each lock (Resource::held and waited),
/// one for each pool (Resource::threads), and `tried`.
struct Replays {
  Replayed replayed;
  std::vector<Change> tried;
  std::vector<Scenario> scenarios;
  bool simulated = false;
  std::optional<Replayed> asked;  ///< simulated: AnswerOptions::asked alone, in case it changes the CPUs
  /// By scenario, where the CPUs are not short: whether they nearly are with it. Empty if with none.
  std::vector<bool> fills_cpus;
  std::optional<Replayed> filled;  ///< simulated, if that reproduces the recording: those alone

  std::optional<Replayed> lanes;  ///< where `replayed` is simulated and other programs want CPUs, too

  /// What lanes say, which keep the queues for CPUs as they were; null if a scenario is not simulated.
  const Replayed* with_queues_kept(std::size_t scenario) const {
    if (changes_cpus(scenarios[scenario])) return nullptr;
    return lanes ? &*lanes : is_filled(scenario) ? &replayed : nullptr;
  }
  /// A scenario's times, from the simulation if it fills the CPUs.
  const Replayed& of(std::size_t scenario) const { return is_filled(scenario) ? *filled : replayed; }
  bool is_filled(std::size_t scenario) const { return filled && fills_cpus[scenario]; }
  /// Whether threads may queue longer for CPUs with it than the replay knows.
  bool may_queue(std::size_t scenario) const {
    return !filled && !fills_cpus.empty() && fills_cpus[scenario];
  }
};

}  // namespace offwait
