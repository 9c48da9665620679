// SPDX-License-Identifier: GPL-2.0-or-later
// What one scenario gains, how far that can be relied on, and where the gain lies.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "progress/progress.h"
#include "replay/changed_order.h"
#include "replay/doubts.h"
#include "replay/gain.h"
#include "replay/gains.h"
#include "replay/lanes.h"
#include "replay/path_to_exit.h"
#include "replay/replays.h"
#include "replay/room.h"

namespace offwait {

/// The part of the used CPU time that other programs had, 0 to 1.
double others_part(const ReplayInput& input);

class ScenarioGains {
 public:
  /// The values outlive it. `weights` are weights_of_speeds(), `path` is of Progress::How::end.
  ScenarioGains(const ReplayInput& input, const Replays& replays, const Room& room,
                const std::vector<double>& weights, const std::optional<PathToExit>& path, bool cpus_short);

  /// The gain of the progress in Replays::scenarios[scenario].
  Gain of(const Progress& progress, std::size_t scenario) const {
    return of(progress, scenario, replays_.of(scenario));
  }
  /// The same by the times of `replayed`.
  Gain of(const Progress& progress, std::size_t scenario, const Replayed& replayed) const;

  /// What the replay shows of the gain, which may be less than the most that it can be (Certainty::up_to).
  double expected(const Progress& progress, std::size_t scenario) const;
  /// The same, by which answers are ranked. Where other programs have the CPUs, and what is `told` of the
  /// gain is not sure, what the lanes say has a part in it. They know no limit of the CPUs.
  double likely(const Progress& progress, std::size_t scenario, const Gain& told) const;

  /// The part of what a scenario gains for which there are CPUs and disks, 0 to 1. `speeds` as Room has them.
  double part_that_fits(const std::vector<double>& speeds, std::size_t scenario) const;

 private:
  /// Where a gain lies.
  struct Spread {
    GainRange range;
    Doubt wide = Doubt::none;  ///< why the range says little
    bool has_range = false;    ///< several pieces of the window were compared
  };
  GainBounds gain_in(const Progress& progress, std::size_t scenario, const Replayed& replayed) const;
  Spread spread(const Progress& progress, std::size_t scenario, const Replayed& replayed, double gain) const;
  Doubt why_approximate(const Progress& progress, std::size_t scenario, const Replayed& replayed) const;
  GainRange beside_unawaited(const Progress& progress, std::size_t scenario, double gain) const;
  double most_of(const Progress& progress, std::size_t scenario) const;
  double fitting(double gain, const Progress& progress, std::size_t scenario) const;
  double beside_others(const Progress& progress, std::size_t scenario, const Replayed& kept,
                       double gain) const;
  bool may_be_less(const Progress& progress, std::size_t scenario, const GainBounds& whole,
                   const std::vector<double>& speeds, double fits, Gain& out) const;
  Doubt doubt(const Progress& progress) const;
  bool uses_cpus() const;

  const ReplayInput& input_;
  const Replays& replays_;
  const Room& room_;
  const std::vector<double>& weights_;
  const std::optional<PathToExit>& path_;
  bool cpus_short_;
  Doubts doubts_;
  ChangedOrder order_;
};

}  // namespace offwait
