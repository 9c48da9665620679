// SPDX-License-Identifier: GPL-2.0-or-later
// What a wait for a thread below the devices owes to disks. jbd2 commits a journal, a kworker writes back
// pages: a thread that waits for them waits for requests that the disk served meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// The part of a wait in which requests to the disk were under way that were complete when the wait ended. Of
/// a wait that a disk ended, this one counts. Else a disk counts if the thread that ended the wait used it
/// meanwhile: waited for it, or had requests there. If it used none, those count that threads used which let
/// it go on then, and so on. Where no disk is found so, each counts: what the wait was for is not known.
struct DiskPart {
  std::uint32_t wait = 0;  ///< index into Trace::waits
  ActorId disk = kNoActor;
  Nanos part_ns = 0;  ///< above 0
};

/// For the waits whose site is `asked`, in order of `wait`. Requests that overlap count once. The wait is
/// clipped to the window. O(sites + waits × log waits + requests × log requests).
std::vector<DiskPart> disk_parts(const Trace& trace, const std::vector<bool>& asked);

/// The entries of one wait.
struct DiskPartRange {
  const DiskPart* first = nullptr;
  const DiskPart* last = nullptr;
  const DiskPart* begin() const { return first; }
  const DiskPart* end() const { return last; }
};
DiskPartRange parts_of(const std::vector<DiskPart>& parts, std::uint32_t wait);

}  // namespace offwait
