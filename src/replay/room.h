// SPDX-License-Identifier: GPL-2.0-or-later
// How much faster a program can get before CPUs or disks are full.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "replay/cpu_sets.h"
#include "replay/lanes.h"
#include "replay/scenario.h"

namespace offwait {

/// What makes more progress impossible.
enum class Full : std::uint8_t {
  nothing,
  cpus,
  disk,
  lock,  ///< one is held all the time
};

std::string_view to_string(Full full);

/// The part of a scenario's gains that fits, 0 to 1, and what is full then.
struct Fit {
  double part = 1;
  Full full = Full::nothing;
  ActorId disk = kNoActor;
};

/// What there is of CPUs and of each disk's channels, and what each group used of it in the window. CPU time,
/// or time at a disk, for each unit of progress, times the new rate of progress, is at most what there is,
/// whatever is changed.
class Room {
 public:
  /// The values of `input` outlive it.
  explicit Room(const ReplayInput& input);

  /// The part of a scenario's gains that fits, 0 to 1. `speeds`, by GroupId: how many times as fast the
  /// scenario makes each group, as far as is known without this limit. Disks that queue nothing have no limit
  /// (disk_channels()). Without `with_cpus` only disks have: a simulation of the CPUs knows theirs.
  double part_that_fits(const Scenario& scenario, const std::vector<double>& speeds, bool with_cpus) const;

  /// What fits at most of what `speeds` gain: other programs make way, and each write and flush is for all
  /// threads that want one at that time (a group commit), however few shared them in the recording.
  Fit most_that_fits(const Scenario& scenario, const std::vector<double>& speeds) const;

  /// The part of a scenario's gains with which no disk without a limit has more requests under way, on
  /// average, than DiskChannels::shown, 0 to 1. How it serves more of them did not show.
  double part_that_showed(const Scenario& scenario, const std::vector<double>& speeds) const;
  /// The same for requests that are for one thread each.
  double part_that_showed_for_one(const Scenario& scenario, const std::vector<double>& speeds) const;

  /// Whether the CPUs are nearly full with the scenario. Then threads queue for them more often than they
  /// did in the recording.
  bool fills_cpus(const Scenario& scenario, const std::vector<double>& speeds) const;

  /// The most that a faster disk at which requests queue gains these groups, if their requests get all the
  /// time that it saves there, with those of other groups as well: these may come as time passes. Of other
  /// scenarios most_gain().
  double most_gain_of(const std::vector<GroupId>& groups, const Scenario& scenario) const;

  /// Whether one of its changes is of a disk for whose channels requests of several groups queue.
  bool alters_a_shared_disk(const Scenario& scenario) const;

  /// The part of the time of these groups' requests to the disk, 0 to 1, for which they queued behind
  /// requests of other groups that threads wait for less than half of the time.
  double part_behind_unawaited(ActorId disk, const std::vector<GroupId>& groups) const;

  /// Time of a group's requests to a disk.
  struct Queued {
    double all_ns = 0;
    double behind_ns = 0;  ///< of it, behind requests as above
  };

 private:
  /// CPUs, or channels, in use on average.
  struct Use {
    double before = 0;  ///< with the scenario's change, at the speeds of the recording
    double after = 0;   ///< at the new speeds
  };
  double part_that_showed(const Scenario& scenario, const std::vector<double>& speeds,
                          const std::map<ActorId, std::vector<double>>& served) const;
  double part_of_cpus(const Scenario& scenario, const std::vector<double>& speeds) const;
  /// By CpuSetId: of what may run on no CPUs but those.
  std::vector<Use> uses_of_cpus(const Scenario& scenario, const std::vector<double>& speeds) const;
  /// The use of those channels of the disk that `by_group` counts.
  Use use_of_disk(ActorId disk, const std::vector<double>& by_group, const Scenario& scenario,
                  const std::vector<double>& speeds) const;
  /// What Resource::held leaves of the group's CPU work, and of its requests, 0 to 1. Threads below the
  /// devices make requests for those that hold the lock.
  double work_of_held(const Change& change, GroupId group) const;
  double requests_of_held(const Change& change, GroupId group) const;

  const ReplayInput& input_;
  CpuSets cpus_;  ///< that groups can use
  bool knows_cpus_;
  std::map<ActorId, std::vector<double>> served_;   ///< by disk and GroupId: its channels in use, on average
  std::map<ActorId, std::vector<double>> for_one_;  ///< of these, in use for requests that are for one thread
  std::map<ActorId, std::map<GroupId, Queued>> queued_;  ///< by disk
};

}  // namespace offwait
