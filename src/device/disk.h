// SPDX-License-Identifier: GPL-2.0-or-later
// Disks as actors: a disk that could serve more waits for its users (wPerf §4.1 "Recording information for
// I/O devices", doc/design.md "Devices").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "device/disk_activity.h"
#include "graph/graph.h"
#include "model/trace.h"

namespace offwait {

/// Compares /proc/diskstats with the block tracepoints: the requests that either saw complete between the
/// first and the last reading of the counters. Intervals in which the counters went backwards are left out.
struct DiskCheck {
  // By /proc/diskstats:
  std::uint64_t counted_ios = 0;
  std::uint64_t counted_bytes = 0;
  // By the tracepoints:
  std::uint64_t seen_ios = 0;
  std::uint64_t seen_bytes = 0;
  /// The two differ by more than 2 %, by more than one request, and by more than the requests that were in
  /// flight at either end or completed within 1 ms of it. A flush that the kernel counts twice makes no
  /// mismatch.
  bool mismatch = false;
};

/// The requests of one thread that were in flight in the window.
struct DiskUser {
  ActorId thread = kNoActor;  ///< kNoActor: no recorded thread submitted them
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  Nanos service_ns = 0;  ///< time from issue to completion inside the window, summed over the requests
};

/// The requests for one file that were in flight in the window.
struct DiskFile {
  ObjectId file = kNoObject;  ///< kNoObject: not known
  bool flushes = false;       ///< for no file: flushes of the disk's cache, discards of unused blocks
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  std::uint64_t written_back = 0;  ///< part of `ios`: writes that a kernel thread sent
  Nanos service_ns = 0;            ///< as of DiskUser
};

/// How a disk was used in the window. busy_ns and idle_ns are by its capacity, and add up to the window; how
/// long it had something under way is told by `activity`.
struct DiskUse {
  ActorId disk = kNoActor;
  DiskCapacity capacity;  ///< raised to the highest rate of an interval
  bool capacity_raised = false;
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  Nanos busy_ns = 0;  ///< window × mean of max(bytes/s ÷ capacity, IO/s ÷ capacity) over the intervals
  Nanos idle_ns = 0;  ///< window − busy_ns
  /// Absent if the counters show requests and the tracepoints none: what was under way is not known then.
  std::optional<DiskActivity> activity;
  std::uint64_t unseen = 0;        ///< requests left out by without_unseen(), here and in `users`
  std::vector<DiskUser> users;     ///< by bytes, most first
  std::vector<DiskFile> files;     ///< by service_ns, most first
  std::optional<DiskCheck> check;  ///< absent if there are no two readings of the counters, or no request
};

/// One entry for each disk actor, in order of id. A disk without a (positive) capacity in the trace has the
/// assumed one of an SSD.
///
/// An interval is the time between one reading of the disk's counters and the next. If it lies partly outside
/// the window, its part inside counts. If the counters went backwards in it (they wrapped, or the device was
/// replaced), the requests that completed in it are counted instead. If no interval lies in the window, so
/// are the requests that completed in the window.
///
/// Whatever the capacity, time without a request in flight is idle, unless no request is known in the whole
/// interval; and time with at least 16 requests in flight is busy, as a disk with such a queue waits for no
/// thread. The capacity's bytes/s and IO/s are raised separately, by whole intervals of 100 ms or more: in a
/// shorter one a single request makes any rate.
std::vector<DiskUse> disk_use(const Trace& trace);

/// Idle edges disk→thread, in order of disk, then thread. Each disk's idle_ns is split among its threads by
/// the bytes of their requests in flight in the window, as in the text of the paper (its code splits by the
/// time waited); a request without data, such as a flush, counts as 512 bytes. The shares sum to idle_ns
/// exactly (largest remainder; ties to the smaller id). A share of 0 ns makes no edge.
///
/// Nor does the share of a thread that keeps the disk in work: for more than half of the time that it waits
/// for the disk, it waits for any one of its requests (WaitSite::any_request) while four or more are under
/// way. The number under way does not tell alone: fsync sends many pages too, but waits for all of them.
///
/// Idle edges do not cascade: weight_ns = wait_ns. `waits` is the number of the thread's requests, and the
/// waker_* times are 0.
std::vector<Edge> idle_edges(const Trace& trace, const std::vector<DiskUse>& use);

}  // namespace offwait
