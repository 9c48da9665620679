// SPDX-License-Identifier: GPL-2.0-or-later
// How much faster a program can get before CPUs or disks are full.
#pragma once

#include <map>
#include <vector>

#include "replay/lanes.h"
#include "replay/scenario.h"

namespace offwait {

/// What there is of CPUs and of each disk's channels, and what each group used of it in the window. CPU time,
/// or time at a disk, for each unit of progress, times the new rate of progress, is at most what there is,
/// whatever is changed.
class Room {
 public:
  /// The values of `input` outlive it. Without `with_cpus` only disks have limits: a simulation of the CPUs
  /// knows theirs.
  Room(const ReplayInput& input, bool with_cpus);

  /// The part of a scenario's gains that fits, 0 to 1. `speeds`, by GroupId: how many times as fast the
  /// scenario makes each group, as far as is known without this limit. Disks that queue nothing have no limit
  /// (disk_channels()).
  double part_that_fits(const Scenario& scenario, const std::vector<double>& speeds) const;

 private:
  double part_of_cpus(const Scenario& scenario, const std::vector<double>& speeds) const;
  double part_of_disk(ActorId disk, const Scenario& scenario, const std::vector<double>& speeds) const;

  const ReplayInput& input_;
  double cpus_ = 0;                                ///< that recorded threads can use; 0: not known
  std::map<ActorId, std::vector<double>> served_;  ///< by disk and GroupId: its channels in use, on average
};

}  // namespace offwait
