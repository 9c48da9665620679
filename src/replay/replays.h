// SPDX-License-Identifier: GPL-2.0-or-later
// All that is replayed for the answers of one recording.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "replay/lanes.h"
#include "replay/more_cpus.h"
#include "replay/scenario.h"

namespace offwait {

/// What was replayed. The scenarios are AnswerOptions::asked, two for each lock (Resource::held and waited),
/// one for each pool (Resource::threads), and `tried`.
struct Replays {
  Replayed replayed;
  std::vector<Change> tried;
  std::vector<Scenario> scenarios;
  bool simulated = false;
  std::optional<Replayed> asked;  ///< simulated: AnswerOptions::asked alone, in case it changes the CPUs
  /// By scenario: whether the CPUs nearly are short with it. Empty if they are short.
  std::vector<bool> fills_cpus;
  /// By scenario, empty likewise: whether it alters queues that lanes do not know all about. Threads queue
  /// for CPUs, and it gains something, or requests of several groups queue for a disk that it alters.
  std::vector<bool> alters_queues;
  std::optional<Replayed> filled;  ///< simulated, if that reproduces the recording: both kinds alone

  std::optional<Replayed> lanes;  ///< where `replayed` is simulated and other programs want CPUs, too

  /// By scenario: both kinds.
  std::vector<bool> not_by_lanes_alone() const {
    std::vector<bool> out = fills_cpus;
    std::transform(out.begin(), out.end(), alters_queues.begin(), out.begin(), std::logical_or<>());
    return out;
  }
  /// What lanes say, which keep the queues for CPUs as they were; null if a scenario is not simulated.
  const Replayed* with_queues_kept(std::size_t scenario) const {
    if (changes_cpus(scenarios[scenario])) return nullptr;
    return lanes ? &*lanes : is_filled(scenario) ? &replayed : nullptr;
  }
  /// What the simulation says of a scenario that lanes tell; null if it is not simulated, or if the
  /// simulation does not reproduce the recording.
  const Replayed* with_queues_altered(std::size_t scenario) const {
    return filled && alters_queues[scenario] && !fills_cpus[scenario] ? &*filled : nullptr;
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
