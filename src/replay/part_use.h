// SPDX-License-Identifier: GPL-2.0-or-later
// What a part of a program took in the recording, and where in the code: what a gain rests on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/scenario.h"
#include "replay/service_use.h"

namespace offwait {

/// Sums over all threads; waits are clipped to the window.
struct PartUse {
  Nanos time_ns = 0;  ///< running or, for any resource but `cpu` and `cpus`, blocked; runnable for `cpus`
  std::uint64_t waits = 0;   ///< that ended in the window; 0 for `cpu` and `cpus`
  GroupId group = kNoGroup;  ///< the group with most of the time
  Nanos group_ns = 0;        ///< the part of time_ns that this group has
  StackId stack = kNoStack;  ///< where that group waits longest
  PeerId peer = kNoPeer;     ///< `remote`: whom that group waits for longest
  Nanos stack_ns = 0;        ///< the part of time_ns waited there
  /// The part of their lives for which the threads of the group waited, 0 to 1, over those threads that
  /// waited at all. It is 0 for CPU work and `cpus`.
  double share = 0;
  bool fixed_rate = false;  ///< there, threads sleep that go on at a fixed rate
  /// The sites whose waits make up time_ns. None for `cpu` and `cpus`.
  std::vector<SiteId> sites{};
  Nanos served_ns = 0;  ///< pause: the part of it in which the disk had requests under way
  // These are known of a service only:
  ServiceUse service{};     ///< what it did meanwhile
  std::size_t waiters = 0;  ///< how many threads waited for it
  double busy = 0;          ///< the part of their lives that the group ran, 0 to 1
  double other_polls = 0;   ///< the part that they waited for several things at once, and others came first
};

/// Parallel to `parts`. A wait that a thread below the devices ended counts for every disk. `services` are
/// uses_of_services().
std::vector<PartUse> uses_of_parts(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                   const Uses& uses, const std::vector<ServiceUse>& services,
                                   const std::vector<Change>& parts);

}  // namespace offwait
