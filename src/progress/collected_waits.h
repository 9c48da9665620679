// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for requests to disks that were under way before the thread ran last: of asynchronous I/O, of
// readahead. The disk went on with them while the thread ran.
#pragma once

#include <vector>

#include "model/trace.h"

namespace offwait {

/// By the wait's index; empty if there is none. The thread's request that was complete last when the wait
/// ended was issued before the thread's wait before that one ended. Where the trace has no requests of the
/// thread, a wait is one if it is for any request (WaitSite::any_request), or in the kernel's function that
/// waits for any. O(waits + requests × log requests).
std::vector<bool> collected_waits(const Trace& trace);

}  // namespace offwait
