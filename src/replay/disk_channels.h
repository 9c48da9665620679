// SPDX-License-Identifier: GPL-2.0-or-later
// How many requests a disk serves at a time. A request that finds all channels taken queues, and what it
// waits then changes with whatever keeps them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

struct DiskChannels {
  std::uint32_t known = 0;  ///< 0: no request is known to have queued
  /// How many requests at a time the disk serves as fast as one, as far as the recording shows. Requests may
  /// have met too seldom, or for too short a time, to tell.
  std::uint32_t shown = 0;
};

/// By ActorId; zeros for actors that are no disks.
///
/// A disk with c channels that serves requests in order begins its k-th request when it is issued or when
/// k - c requests are complete, whichever is later. The function tries 1, 2, 4, ... 64 channels, and no
/// limit. Requests of a group of threads are alike, so it takes the number with which the times from the
/// start to the completion are closest to the group's median, in nanoseconds: as a part of their mean, the
/// sums of several requests' times would be closer. A number with which more than a few requests are complete
/// before they start does not count. Shown is the smallest number that is not clearly worse than no
/// limit; where fewer than 16 requests tell two numbers apart, neither is clearly worse.
std::vector<DiskChannels> disk_channels(const Trace& trace, const ThreadGroups& groups,
                                        const WaitKinds& kinds);

}  // namespace offwait
