// SPDX-License-Identifier: GPL-2.0-or-later
// What a disk had under way: how long it was busy, how many requests at a time, and how long each of them
// took. All of it is counted from the same requests, those that the block tracepoints saw, so that Little's
// law holds exactly: completions per second × time each = mean number in flight.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// How a disk was used.
enum class DiskKind : std::uint8_t {
  idle,             ///< nothing was under way
  occasional,       ///< something was under way for less than half of the window
  latency_bound,    ///< busy most of the time with about one request at a time: each one's time is the limit
  parallel,         ///< busy most of the time with several requests at a time
  ios_bound,        ///< busy most of the time, and close to its capacity in requests
  bandwidth_bound,  ///< busy most of the time, and close to its capacity in bytes
};
/// `idle`, `occasional`, `latency-bound`, `parallel`, `ios-bound`, `bandwidth-bound`.
std::string_view to_string(DiskKind kind);

/// The counters of /proc/diskstats are not all read at one instant, but within about this time.
inline constexpr Nanos kReadingBlur = 1'000'000;

/// The requests of one disk without those that are still open at the end although the last of its counters
/// shows fewer in flight: the oldest ones then. A host may hide a completion from tracing, and such a request
/// would keep the disk busy to the end. `readings` are in order of time.
std::vector<DiskIo> without_unseen(std::vector<DiskIo> ios, const std::vector<DiskCounters>& readings);

/// The requests of one disk inside the window. A request is under way from its issue to the disk to its
/// completion; time in a queue of the kernel before that does not count.
struct DiskActivity {
  std::uint64_t ios = 0;    ///< completed in the window
  std::uint64_t bytes = 0;  ///< of these
  Nanos under_way_ns = 0;   ///< at least one request was under way: iostat's %util, as a time
  double request_ns = 0;    ///< time under way inside the window, summed over the requests

  /// Mean over the window.
  double in_flight(const Window& window) const;
  /// Mean over the time in which at least one request was under way; 0 if there was none.
  double in_flight_while_busy() const;
  /// Time under way in the window for each request that completed in it (Denning and Buzen, The Operational
  /// Analysis of Queueing Network Models, 1978, §3); 0 if none completed.
  double each_ns() const;
};

DiskActivity disk_activity(const std::vector<DiskIo>& ios, const Window& window);

/// "About one request at a time" is less than 1.5, "close" to a capacity 80 % of it.
DiskKind kind_of(const DiskActivity& activity, const DiskCapacity& capacity, const Window& window);

}  // namespace offwait
