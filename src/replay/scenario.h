// SPDX-License-Identifier: GPL-2.0-or-later
// What might be changed in the program or below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/lock_holds.h"
#include "progress/services.h"
#include "progress/thread_groups.h"
#include "replay/code.h"

namespace offwait {

enum class Resource : std::uint8_t {
  cpu,       ///< the CPU work of a group
  io,        ///< a group's requests to a disk
  disk,      ///< a disk, for all its users
  sleep,     ///< a group's waits for a time
  remote,    ///< a service that the target asks, or a group's waits for services of which no thread was
             ///< recorded
  cpus,      ///< how many CPUs there are
  held,      ///< what threads do while they hold a lock: CPU work, disks, sleeps, remote services
  waited,    ///< the waits for a lock; as an answer, the lock
  threads,   ///< how many threads a group has
  runnable,  ///< the time from a wake to running, of waits in a function
  sync,      ///< calls that make sure of what is on a disk: their CPU work, and their waits
  pause,     ///< waits in which the kernel holds threads back (progress/pauses.h), above a disk or not
};
inline constexpr std::size_t kResources = static_cast<std::size_t>(Resource::pause) + 1;
std::string_view to_string(Resource resource);

/// One part takes `factor` times as long. With Resource::cpus each CPU has `factor` times as much work, and
/// with Resource::threads each thread of the group.
struct Change {
  Resource resource = Resource::cpu;
  GroupId group = kNoGroup;  ///< cpu, io, sleep, threads; remote without a service
  ActorId device =
      kNoActor;  ///< io, disk; sync: the one that the calls wait for longest; pause: paused_above()
  double factor = 0.5;
  ServiceId service = kNoService;  ///< remote
  LockId lock = kNoLock;           ///< held, waited
  /// cpu, io, sleep, remote, runnable, without a group: those in a function. sync: these calls.
  CodeId code = kNoCode;
  /// cpu, io, sleep, remote: more threads do it at the same time, each for as long as before.
  bool shared = false;
  friend bool operator==(const Change&, const Change&) = default;
};

/// Changes made together.
using Scenario = std::vector<Change>;

/// How much work each CPU has, in proportion to the recording: 0.5 with twice as many CPUs.
double factor_of_cpus(const Scenario& scenario);

/// The most that the scenario can gain: if everything took as long as the part that it makes shortest, all
/// would go as many times as fast, and with the rest as it is no more can be gained.
double most_gain(const Scenario& scenario);

/// By how much longer the scenario's changes of functions make a thread's work and its own waits take.
/// `place` is of the work; `resource` must be io, sleep, remote or runnable. 1 if there is no such change.
double factor_of_work(const Scenario& scenario, const Code& code, PlaceId place);
double factor_of_wait(const Scenario& scenario, const Code& code, Resource resource, StackId stack);
/// What the scenario's changes of functions leave of the group's requests to disks, as a part of their time.
double factor_of_requests(const Scenario& scenario, const Code& code, GroupId group);

/// The same scenario, with changes added for each change of a service: the CPU work, the sleeps, the requests
/// to disks and the remote waits of the groups behind it take the factor as well.
Scenario with_parts_of_services(const Scenario& scenario, const Services& services, const Uses& uses);

}  // namespace offwait
