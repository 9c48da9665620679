// SPDX-License-Identifier: GPL-2.0-or-later
// What a service on this host did while the target waited for its answers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/services.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

/// Sums over the target's waits for a service that threads of this host ended. A wait counts from its start
/// to the answer's send. What the answering thread did meanwhile is looked at; where that one waited for
/// another thread behind the service, what this one did. The parts add up to all_ns.
struct ServiceUse {
  Nanos all_ns = 0;
  Nanos ran_ns = 0;
  Nanos runnable_ns = 0;
  Nanos slept_ns = 0;  ///< timers ended these waits
  Nanos disk_ns = 0;
  Nanos remote_ns = 0;   ///< it waited for services of its own that were not recorded
  Nanos others_ns = 0;   ///< it waited for threads that are not behind it
  Nanos request_ns = 0;  ///< it waited to be asked
  Nanos unknown_ns = 0;
  ActorId disk = kNoActor;  ///< the one that takes most of disk_ns; none if that is not known
  /// The time in the whole window that the answering threads did not wait to be asked, all together. Divided
  /// by the window it is how many requests were under way on average, if each thread has one at a time.
  Nanos busy_ns = 0;
};

/// By ServiceId; zeros for a service on another host. Looks at about 20,000 of the waits for each service if
/// there are more, evenly spread; the sums are of these then.
std::vector<ServiceUse> uses_of_services(const Trace& trace, const ThreadGroups& groups,
                                         const WaitKinds& kinds);

}  // namespace offwait
