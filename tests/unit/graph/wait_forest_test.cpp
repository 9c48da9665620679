// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/wait_forest.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace offwait {
namespace {

/// The same as WaitForest, with each sum stored where it belongs.
class PlainForest {
 public:
  explicit PlainForest(const std::vector<std::uint32_t>& own_sizes) {
    for (const std::uint32_t size : own_sizes) {
      threads_.push_back({.size = size});
    }
  }

  bool begin_wait(ActorId thread, ActorId waker, std::uint64_t now) {
    threads_[thread].moment = threads_[thread].size * now;
    for (ActorId at = waker; at != kNoActor; at = threads_[at].waker) {
      if (at == thread) return false;
    }
    threads_[thread].waker = waker;
    for (ActorId at = waker; at != kNoActor; at = threads_[at].waker) {
      threads_[at].size += threads_[thread].size;
      threads_[at].moment += threads_[thread].size * now;
    }
    return true;
  }

  std::uint64_t end_wait(ActorId thread, std::uint64_t now) {
    for (ActorId at = threads_[thread].waker; at != kNoActor; at = threads_[at].waker) {
      threads_[at].size -= threads_[thread].size;
      threads_[at].moment -= threads_[thread].size * now;
    }
    threads_[thread].waker = kNoActor;
    return weight(thread, now);
  }

  ActorId waker(ActorId thread) const { return threads_[thread].waker; }
  std::uint64_t weight(ActorId thread, std::uint64_t now) const {
    return threads_[thread].size * now - threads_[thread].moment;
  }
  std::size_t depth(ActorId thread) const {
    std::size_t depth = 0;
    for (ActorId at = threads_[thread].waker; at != kNoActor; at = threads_[at].waker) {
      ++depth;
    }
    return depth;
  }

 private:
  struct Thread {
    std::uint32_t size = 0;
    std::uint64_t moment = 0;
    ActorId waker = kNoActor;
  };
  std::vector<Thread> threads_;
};

/// Does the same with both forests and compares what they say.
class Both {
 public:
  Both(std::uint64_t seed, std::size_t threads)
      : random_(seed), own_sizes_(sizes(threads)), forest_(own_sizes_), plain_(own_sizes_), waits_(threads) {}

  void run(std::size_t steps) {
    for (std::size_t step = 0; step < steps && !ended_; ++step) {
      now_ += below(3) * below(100);
      // Phases in which queues grow take turns with those in which they shrink.
      if (below(4) == (step / 200 % 2 == 0 ? 0 : 1) || all(true).size() + 2 > waits_.size()) {
        end_waits();
      } else {
        begin_wait();
      }
      if (step % 50 == 0) compare_weights();
    }
  }

  std::size_t differing = 0, ends = 0, deepest = 0, cycles = 0;

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  std::vector<std::uint32_t> sizes(std::size_t threads) {
    std::vector<std::uint32_t> sizes(threads);
    for (std::uint32_t& size : sizes) {
      size = below(5) == 0 ? 0 : 1;
    }
    return sizes;
  }

  std::vector<ActorId> all(bool waiting) const {
    std::vector<ActorId> found;
    for (ActorId id = 0; id < waits_.size(); ++id) {
      if (waits_[id] == waiting) found.push_back(id);
    }
    return found;
  }

  ActorId a_waker(ActorId thread) {
    if (below(12) == 0) return kNoActor;
    // Mostly behind the last one in a queue, or beside it.
    const ActorId waker = below(3) > 0 ? last_ : static_cast<ActorId>(below(waits_.size()));
    for (ActorId at = waker; at != kNoActor; at = plain_.waker(at)) {
      if (at == thread && below(2000) > 0) return kNoActor;
    }
    return waker;
  }

  void begin_wait() {
    const std::vector<ActorId> running = all(false);
    const ActorId thread = running[below(running.size())];
    const ActorId waker = a_waker(thread);
    const bool begun = plain_.begin_wait(thread, waker, now_);
    if (forest_.begin_wait(thread, waker, now_) != begun) ++differing;
    if (!begun) {
      ++cycles;
      ended_ = true;
      return;
    }
    waits_[thread] = true;
    if (below(4) > 0) last_ = thread;
    deepest = std::max(deepest, plain_.depth(thread));
  }

  /// Ends the wait of a root, of a thread that waits for one or, at one instant and in any order, of all
  /// threads on the way from a thread to the root.
  void end_waits() {
    const std::vector<ActorId> waiting = all(true);
    if (waiting.empty()) return;
    std::vector<ActorId> way;
    for (ActorId at = waiting[below(waiting.size())]; at != kNoActor; at = plain_.waker(at)) {
      if (waits_[at]) way.push_back(at);
    }
    if (below(20) > 0) way = {way.back()};
    std::shuffle(way.begin(), way.end(), random_);
    for (const ActorId thread : way) {
      if (forest_.waker(thread) != plain_.waker(thread)) ++differing;
      if (forest_.end_wait(thread, now_) != plain_.end_wait(thread, now_)) ++differing;
      waits_[thread] = false;
      ++ends;
    }
  }

  void compare_weights() {
    const std::vector<std::uint64_t> weights = forest_.weights(now_);
    for (const ActorId thread : all(true)) {
      if (weights[thread] != plain_.weight(thread, now_)) ++differing;
    }
  }

  std::mt19937_64 random_;
  std::vector<std::uint32_t> own_sizes_;
  WaitForest forest_;
  PlainForest plain_;
  std::vector<bool> waits_;
  std::uint64_t now_ = 0;
  ActorId last_ = 0;
  bool ended_ = false;
};

TEST_CASE("a forest of paths weighs waits like one that stores each sum") {
  std::size_t ends = 0, deep = 0, cycles = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Both both(seed, seed % 16 == 0 ? 400 : 2 + seed % 60);
    both.run(seed % 16 == 0 ? 1500 : 400);
    REQUIRE(both.differing == 0);
    ends += both.ends;
    if (both.deepest >= 40) ++deep;
    cycles += both.cycles;
  }
  CHECK(ends >= 10'000);
  CHECK(deep >= 15);
  CHECK(cycles >= 5);
}

TEST_CASE("a queue moves up one by one, and each thread has a client that waits for it") {
  constexpr ActorId kQueue = 500;
  const std::vector<std::uint32_t> own_sizes(2 * kQueue, 1);
  WaitForest forest(own_sizes);
  PlainForest plain(own_sizes);
  std::uint64_t now = 0;
  const auto begin_wait = [&](ActorId thread, ActorId waker) {
    ++now;
    forest.begin_wait(thread, waker, now);
    plain.begin_wait(thread, waker, now);
  };
  std::size_t differing = 0;
  const auto end_wait = [&](ActorId thread) {
    now += 7;
    if (forest.end_wait(thread, now) != plain.end_wait(thread, now)) ++differing;
  };
  // The clients come first, so the queue is divided wherever a thread is followed by its client.
  for (ActorId id = 0; id < kQueue; ++id) {
    begin_wait(kQueue + id, id);
    if (id > 0) begin_wait(id, id - 1);
  }
  for (ActorId holder = 0; holder + 1 < kQueue; ++holder) {
    end_wait(kQueue + holder);
    end_wait(holder + 1);
    begin_wait(holder, holder == 0 ? kQueue - 1 : holder - 1);
    begin_wait(kQueue + holder, holder);
  }
  CHECK(differing == 0);
}

}  // namespace
}  // namespace offwait
