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

/// By ActorId; 0 for a disk at which no request is known to have queued, and for actors that are no disks.
///
/// A disk with c channels that serves requests in order begins its k-th request when it is issued or when
/// k - c requests are complete, whichever is later. The function tries 1, 2, 4, ... 64 channels, and no
/// limit. It takes the number with which the time from the begin to the completion varies least among the
/// requests of each group of threads.
std::vector<std::uint32_t> disk_channels(const Trace& trace, const ThreadGroups& groups,
                                         const WaitKinds& kinds);

}  // namespace offwait
