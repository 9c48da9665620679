// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replay/disk_channels.h"
#include "replay/lanes.h"

namespace offwait::test {

/// What a replay of a trace is made of.
struct Replayable {
  Replayable(const Trace& a_trace, const UsableCpus& cpus)
      : trace(a_trace),
        groups(group_threads(trace)),
        kinds(kinds_of_waits(trace, groups)),
        uses(uses_of(trace, groups, kinds)),
        channels(disk_channels(trace, groups, kinds)),
        holds(trace, groups, kinds, 3),
        histories(trace),
        sleepers(waits_for_sleepers_of(trace, groups, kinds, uses)),
        ties(ties_of(trace, groups, kinds, uses, sleepers)),
        input{trace, groups, kinds, uses, channels, holds, histories, sleepers, ties, cpus} {}
  Replayable(const Replayable&) = delete;
  Replayable& operator=(const Replayable&) = delete;

  Trace trace;
  ThreadGroups groups;
  WaitKinds kinds;
  Uses uses;
  std::vector<DiskChannels> channels;
  LockHolds holds;
  Histories histories;
  WaitsForSleepers sleepers;
  Ties ties;
  ReplayInput input;
};

/// Replays a trace with one scenario at a time.
struct Replayer : Replayable {
  explicit Replayer(const Trace& a_trace, double busy = 0, double others = 0)
      : Replayable(a_trace, {8, busy}) {
    input.cpus.others = others;
  }

  GroupId group(const std::string& name) const {
    for (GroupId id = 0; id < groups.groups.size(); ++id) {
      if (groups.groups[id].name == name) return id;
    }
    FAIL("no group " << name);
    return kNoGroup;
  }
  ActorId actor(const std::string& name) const {
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      if (trace.actors[id].name == name) return id;
    }
    FAIL("no actor " << name);
    return kNoActor;
  }
  /// How many times as fast the group is.
  double speed(const std::string& name, const Scenario& scenario) const {
    const Replayed replayed = replay(input, {scenario}, 1);
    const GroupTime& time = replayed.pieces[0][group(name)];
    return time.done_ns[0] / time.took_ns[0];
  }
  Scenario cpu(const std::string& name) const { return {{Resource::cpu, group(name)}}; }
  Scenario disk(const std::string& name) const { return {{Resource::disk, kNoGroup, actor(name)}}; }
};

}  // namespace offwait::test
