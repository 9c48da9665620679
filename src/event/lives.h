// SPDX-License-Identifier: GPL-2.0-or-later
// The lives of all threads of a recording. A program may make 30,000 threads a second, so each takes some
// 60 bytes at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/nanos.h"
#include "event/numbered_values.h"
#include "model/by_thread.h"
#include "model/tid_lives.h"

namespace offwait {

class Lives {
 public:
  /// The last life of the tid so far; nullptr if it has none. Its exit may be changed, its start may not. The
  /// pointer stays good. Not after end().
  Life* last(std::uint32_t tid);
  const Life* last(std::uint32_t tid) const;
  /// Adds a life of the tid, after all others: it starts at or after the exit of the last one. Not after
  /// end().
  void append(std::uint32_t tid, const Life& life);
  /// No more are added. What follows is to be asked afterwards.
  void end();

  /// The first life of the tid that has begun by `at` and has not ended before it, or nullptr. At the instant
  /// of an exit the old life still counts, because an exiting thread wakes others.
  const Life* alive_through(std::uint32_t tid, Nanos at) const;
  /// All lives, in the order in which they were added.
  const std::deque<Life>& all() const { return lives_; }

 private:
  struct TidHash {
    std::size_t operator()(std::uint32_t tid) const {
      const std::uint64_t product = tid * 0x9e3779b97f4a7c15ULL;
      return product ^ product >> 32;
    }
  };

  std::deque<Life> lives_;  ///< pointers to them stay good
  NumberedValues<std::uint32_t, TidHash> tids_;
  std::vector<std::uint32_t> last_;   ///< by number of the tid: index of its last life
  std::deque<std::uint32_t> tid_of_;  ///< by life: the number of its tid; empty after end()
  std::optional<ByThread> of_tid_;    ///< by number of the tid: its lives, in order
};

}  // namespace offwait
