// SPDX-License-Identifier: GPL-2.0-or-later
// Waits in which the kernel holds a thread back. It keeps requests above a disk, because of an I/O limit of a
// cgroup (io.max, blkio.throttle) or in a scheduler; it makes writers of dirty pages wait while the disk is
// behind, and threads that need memory while it makes room. No program asked for that time, and no faster
// disk saves what passed while the disk had nothing to do.
#pragma once

#include <vector>

#include "code/kernel.h"
#include "model/trace.h"
#include "progress/disk_parts.h"

namespace offwait {

/// By SiteId, of threads of programs: a timer ends the waits, and the kernel is known to wait so by itself.
/// These are waits that it counts as I/O, page faults, and others in a stack that tells why (pause_in()).
std::vector<bool> pauses_by_time(const Trace& trace);

/// By SiteId, of those `at_disks`: for more than half of the waits' time, no request was under way at the
/// disk that was complete when the wait ended. `parts` are disk_parts() of these and other waits. A wait
/// without any request tells nothing, since that was issued before the recording; nor does one for any
/// request (WaitSite::any_request), or for requests that were under way while the thread ran (`collected`,
/// collected_waits()). The waits that tell must be more than half of the site's time.
std::vector<bool> pauses_above_disks(const Trace& trace, const std::vector<bool>& at_disks,
                                     const std::vector<DiskPart>& parts, const std::vector<bool>& collected);

/// Why the kernel holds threads back that wait in this stack, as far as its functions tell. The outermost one
/// that pauses decides: what a limit calls to wait may be the way of a full queue as well.
KernelPause pause_in(const Trace& trace, StackId stack);

/// The disk above which requests were kept; kNoActor for other pauses.
ActorId paused_above(const Trace& trace, const WaitSite& site);

}  // namespace offwait
