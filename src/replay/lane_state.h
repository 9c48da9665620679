// SPDX-License-Identifier: GPL-2.0-or-later
// What a replay in lanes keeps of each thread, and of the requests to each disk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/lock_holds.h"
#include "progress/sleep_paces.h"
#include "progress/thread_groups.h"
#include "replay/lane_factors.h"

namespace offwait {

enum class LaneState : std::uint8_t { absent, running, runnable, blocked };

/// The requests of one group to one disk, as the waits for them showed.
struct DiskQueue {
  std::uint32_t channels = 0;
  std::uint64_t issued = 0;
  std::uint64_t completed = 0;
  std::vector<Nanos> recorded;  ///< when the last requests were complete, by number of completion
  std::optional<Rows> replayed;
  ConstRow own = nullptr;    ///< factors of this group's requests
  ConstRow other = nullptr;  ///< factors of all requests to the disk

  /// How many of the last requests are known.
  std::uint64_t slots() const { return 4 * std::uint64_t{channels}; }
};

struct LaneThread {
  LaneState state = LaneState::absent;
  Nanos last = 0;  ///< time of the last event; of a blocked thread, of its block
  GroupId group = kNoGroup;
  std::uint64_t request = 0;    ///< number of the request that it waits for
  double timed_out_ns = 0;      ///< in time-outs that came to nothing, since its last other wait
  Nanos piece_from = 0;         ///< recorded time of its last event in the piece before
  Nanos woke = kNever;          ///< the end of its last wait; kNever: none yet
  bool snapshot_valid = false;  ///< its row of snapshots_ says where the holder of the lock was
  std::span<const Hold> holds;  ///< those that are not over at `last`
  ConstRow runnable = nullptr;  ///< of the time in LaneState::runnable that it is in
  ConstRow cpu = nullptr;
  ConstRow sleep = nullptr;
  ConstRow remote = nullptr;
};

/// Until when a thread that goes on at a fixed rate slept last at that rate. A thread has one rate.
struct Moments {
  Nanos recorded = kNever;       ///< kNever: it did not sleep so yet
  std::vector<double> replayed;  ///< by lane

  /// The thread, which is at `now`, slept until `at`. Since `recorded` it worked for `worked` periods, and it
  /// slept through `slept` more. In `waited` is the length of one period or, of the first sleep, of that; the
  /// function puts there for how long the thread sleeps now.
  void wait(Nanos at, ConstRow now, Row waited, double worked, double slept, std::size_t lanes) {
    if (recorded == kNever) replayed.assign(now, now + lanes);
    set_row(replayed.data(), lanes, [&](std::size_t i) {
      return replayed[i] + waited[i] * (slept + periods_needed(now[i] - replayed[i], waited[i], worked));
    });
    set_row(waited, lanes, [&](std::size_t i) { return std::max(0.0, replayed[i] - now[i]); });
    recorded = at;
  }
};

/// A thread that began to wait for a lock while the one that released it later was blocked.
struct Pending {
  ActorId waiter;
  Nanos at;
};

}  // namespace offwait
