// SPDX-License-Identifier: GPL-2.0-or-later
// Waits in which the kernel holds a thread back: requests that it keeps above a disk, because of an I/O limit
// of a cgroup (io.max, blkio.throttle) or a scheduler; writers of dirty pages, while the disk is behind;
// those who want memory, while the kernel makes room. No program asked for that time, and no faster disk
// saves what passed while the disk had nothing to do.
#pragma once

#include <vector>

#include "model/trace.h"
#include "progress/disk_parts.h"

namespace offwait {

/// By SiteId: a timer ended waits in which the kernel does not wait for what a program asked it for: for I/O,
/// for a lock of its own, in a page fault.
std::vector<bool> pauses_by_time(const Trace& trace);

/// By SiteId: for a tenth of these waits for a disk or more, no request was under way at the disk that was
/// complete when the wait ended. `parts` are disk_parts() of these and other waits. A wait without
/// any request tells nothing, since that was issued before the recording; nor does one for requests that were
/// under way while the thread ran (`collected`, collected_waits()).
std::vector<bool> pauses_above_disks(const Trace& trace, const std::vector<bool>& at_disks,
                                     const std::vector<DiskPart>& parts, const std::vector<bool>& collected);

/// What kept requests back: the disk above which it happened; kNoActor for other pauses.
ActorId paused_above(const Trace& trace, const WaitSite& site);

}  // namespace offwait
