// SPDX-License-Identifier: GPL-2.0-or-later
// Disks as actors that wait for their users while they could have served more (wPerf §4.1 "Recording
// information for I/O devices", doc/design.md "Devices").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "graph/graph.h"
#include "model/trace.h"

namespace offwait {

/// The same requests as two see them: /proc/diskstats and the block tracepoints, between the first sample and
/// the last. Intervals whose counters went backwards are left out.
struct DiskCheck {
  std::uint64_t counted_ios = 0;
  std::uint64_t counted_bytes = 0;
  std::uint64_t seen_ios = 0;
  std::uint64_t seen_bytes = 0;
  /// They differ by more than 2 %, and by more than the requests that were in flight at either end or
  /// completed within 1 ms of it. The kernel may count a flush twice.
  bool mismatch = false;
};

/// What one thread had in flight in the window.
struct DiskUser {
  ActorId thread = kNoActor;  ///< kNoActor: submitted by nobody who was recorded
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  Nanos service_ns = 0;  ///< from issue to completion, summed over its requests, inside the window
};

/// What a disk did in the window. busy_ns + idle_ns == the window.
struct DiskUse {
  ActorId disk = kNoActor;
  DiskCapacity capacity;  ///< raised to the highest rate seen in a sampling interval
  bool capacity_raised = false;
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  Nanos busy_ns =
      0;  ///< window × mean of max(bytes/s ÷ capacity, IO/s ÷ capacity) over the sampling intervals
  Nanos idle_ns = 0;               ///< window − busy_ns
  std::vector<DiskUser> users;     ///< by bytes, most first
  Nanos mean_service_ns = 0;       ///< of the requests that completed in the window; 0 without any
  double mean_in_flight = 0;       ///< over the window
  std::optional<DiskCheck> check;  ///< none without two samples or any request
};

/// One entry per disk actor, in order of id. A disk without a (positive) capacity in the trace is `ssd`,
/// assumed.
///
/// The sampling intervals are those between one sample of the disk and the next; one that lies partly
/// outside the window counts for its part inside. An interval whose counters went backwards (a wrap, a
/// device that was replaced) says nothing and is counted from the requests that completed in it, as the
/// whole window is when no interval lies in it. Time without any request in flight is idle in any case,
/// unless no request at all is known of in the interval; time with at least 16 requests in flight is busy in
/// any case, whatever is assumed: a disk with a queue like that waits for nobody. Bytes/s and IO/s of the
/// capacity are raised separately, by whole intervals of 100 ms or more: in a shorter one a single request
/// makes any rate.
std::vector<DiskUse> disk_use(const Trace& trace);

/// Idle edges disk→thread: each disk's idle_ns split by the bytes each thread sent to it (a request without
/// data, such as a flush, counts as 512 bytes) in requests in flight in the window; the shares sum to idle_ns
/// exactly (largest remainder; ties to the smaller id). Disks that nobody used have none, nor have shares of
/// 0 ns, nor has a thread that keeps the disk in work: more than half of its time waiting for the disk it
/// waits for any request (WaitSite::any_request), with four of its own or more under way. (How many are under
/// way does not tell alone: fsync sends many pages, too, and waits for all of them.) They do not
/// cascade: weight_ns = wait_ns. `waits` is the number of the thread's requests; what the thread did
/// meanwhile is not accounted. In order of disk, then thread.
std::vector<Edge> idle_edges(const Trace& trace, const std::vector<DiskUse>& use);

}  // namespace offwait
