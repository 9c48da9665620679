// SPDX-License-Identifier: GPL-2.0-or-later
// What a replay in lanes keeps of each thread, and of the requests to each disk.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/lock_holds.h"
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

/// A thread that began to wait for a lock while the one that released it later was blocked.
struct Pending {
  ActorId waiter;
  Nanos at;
};

}  // namespace offwait
