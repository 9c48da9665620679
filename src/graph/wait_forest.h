// SPDX-License-Identifier: GPL-2.0-or-later
// The forest of threads that wait for each other: the parent of a thread is the one that will end its wait.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// Weighs waits while time passes. The size of a thread is its own size (1 if it counts, else 0) + the sizes
/// of all threads that wait for it, directly or through others. The weight of a wait is the sum of its
/// thread's size over its time, in ns. Times are in ns from the window's start and never go back from call to
/// call. Weights are exact modulo 2^64.
///
/// A wait that joins or leaves a queue costs the same however long the queue is. In any tree, begin_wait()
/// goes to the root from path to path (see below) and joins paths until at most log2(threads) are left on
/// that way; a path that is joined or cut costs the length of the shorter part. end_wait() costs as little if
/// the waker is in no wait.
class WaitForest {
 public:
  /// `own_sizes`: by ActorId.
  explicit WaitForest(const std::vector<std::uint32_t>& own_sizes);

  /// Begins a wait of `thread`, which is in none. `waker` will end it; kNoActor: no thread will. Returns
  /// false if `waker` waits for `thread`, directly or not, or is `thread`. The forest is then of no more use.
  bool begin_wait(ActorId thread, ActorId waker, std::uint64_t now);

  /// Ends the wait of `thread` and returns its weight.
  std::uint64_t end_wait(ActorId thread, std::uint64_t now);

  /// The thread that will end the current wait of `thread`; kNoActor if none will.
  ActorId waker(ActorId thread) const { return links_[thread].waker; }

  /// By ActorId: the weight of each thread's current wait, up to `now`. Means nothing for threads in none.
  std::vector<std::uint64_t> weights(std::uint64_t now) const;

 private:
  /// Σ (change of a size × time of the change) is the moment. The weight at t is size × t − moment.
  struct Sum {
    std::uint64_t moment = 0;
    std::uint32_t size = 0;

    std::uint64_t weight(std::uint64_t now) const { return size * now - moment; }
    void add(const Sum& other) {
      moment += other.moment;
      size += other.size;
    }
    void subtract(const Sum& other) {
      moment -= other.moment;
      size -= other.size;
    }
  };

  // The forest is divided into paths: a thread, one that waits for it, one that waits for that one, and so
  // on. The sum of a thread's subtree is not stored, unless the thread is a path's first. It is the sum over
  // `rest` of the thread and of those after it in the path. So what is added below a thread changes two sums
  // for each path between there and the root. That suffices because waits end at the root, where a thread is
  // a path's first as soon as the one before it is taken off. (Waits that end at one instant may end in any
  // order, and then more threads are taken off.)
  //
  // A path that hangs at a thread of another becomes its continuation if there is none, or if it makes up
  // more than half of the other: from one path to the next the size at least doubles.

  struct Link {
    Sum rest;  ///< own size + the paths that hang at the thread, and since when
    ActorId waker = kNoActor;
    ActorId next = kNoActor;  ///< the thread after it in its path, which waits for it
    std::uint32_t path = 0;
  };
  struct Path {
    Sum sum;  ///< of the subtree of `first`
    ActorId first = kNoActor;
    std::uint32_t length = 1;
  };

  void continue_path(ActorId last, std::uint32_t hanging);
  void cut_path(ActorId last);
  void move(ActorId first, std::uint32_t count, std::uint32_t path);

  std::vector<Link> links_;  ///< by ActorId
  std::vector<Path> paths_;
  std::vector<std::uint32_t> free_paths_;
};

}  // namespace offwait
