// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks for the waits that were recorded without, from waits like them that have theirs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "offwait/event.h"

namespace offwait {

/// Where stacks cost too much, the kernel takes those of a wait by chance, in proportion to its length
/// (offwait_wait::draw). A wait of length d that was drawn with probability p then speaks for d / p
/// (Horvitz and Thompson, A generalization of sampling without replacement from a finite universe, 1952):
/// for itself, and for d / p - d of the time of waits that were left out.
///
/// These get its stacks. They are waits of the same thread, place, waker and length about that time, as far
/// as enough of them were likely to be drawn; else also others of the place (for the waiter's stacks) or of
/// the waker. To look at what was drawn instead, and elsewhere only where nothing was, would be wrong: where
/// few are drawn, as among short waits, some time would go to other stacks each time and none come back.
/// Chance so makes the sums of wait time by stack too large as often as too small. The exception is a place,
/// or a waker, where hardly anything was likely to be drawn: sums there may be off by about a third of 2^BITS
/// ns. All else in the records stays as it is.
///
/// Works in two passes over the waits of a recording, in the same order: note() all, then fill() all.
class LeftOutStacks {
 public:
  /// Numbers of the thread that waits, and of the thread or device that wakes it: waits with the same numbers
  /// are those of one thread here.
  struct Threads {
    std::uint32_t waiter = 0;
    std::uint32_t waker = 0;
  };
  void note(const offwait_wait& record, const Threads& threads);
  /// Sets the stack ids of a wait that was left out, and does nothing to others. A waker's stack is one of
  /// the same thread. Without any wait that is like it, it stays without stacks. `threads` as it was noted
  /// with.
  void fill(offwait_wait& record, const Threads& threads);

  /// Noted waits that could have been left out, or were.
  std::uint64_t waits_with_stacks() const { return waits_with_stacks_; }
  std::uint64_t waits_without_stacks() const { return waits_without_stacks_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// What makes waits alike, in the bits of two words; Level says which of them count.
  struct Cell {
    std::uint64_t threads = 0;
    std::uint64_t place = 0;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct CellHash {
    std::size_t operator()(const Cell& cell) const;
  };
  using Level = Cell;

  /// The waits of a cell over a time in which about as many were likely to be drawn as a sum needs.
  struct Stretch {
    Cell cell;
    double expected = 0;  ///< variance of the number of draws: their expected number, if all are unlikely
    double left_out_ns = 0;
    double mass = 0;             ///< time of left-out waits that the drawn ones speak for
    std::uint64_t wakings = 0;   ///< when the left-out waits ended, added up: chance alone decides it
    std::uint32_t left_out = 0;  ///< waits that fill() has not seen yet
    std::uint32_t next = kNone;  ///< of the same cell
    std::uint32_t last_donor = kNone;
    std::uint32_t donors_begin = 0;  ///< in donors_by_stretch_
    std::uint32_t donors_end = 0;
    double point = 0;  ///< of each wait, from its start, as a part of its length
  };
  struct Stretches {
    std::uint32_t first = kNone;
    std::uint32_t current = kNone;
  };

  struct Stacks {
    std::uint32_t wait_user = 0;
    std::uint32_t wait_kernel = 0;
    std::uint32_t waker_user = 0;
    std::uint32_t waker_kernel = 0;
    friend bool operator==(const Stacks&, const Stacks&) = default;
  };
  /// Waits with these stacks, one after the other in a stretch.
  struct Donor {
    Stacks stacks;
    std::uint32_t stretch = 0;
    std::uint32_t before = kNone;  ///< the one before in the stretch
    double mass = 0;               ///< 0: their stacks were certain, so they speak for themselves only
    double own_part = 0;           ///< each one's mass times the probability that it was left out
  };

  /// Deals the stacks of donors. These lie one after the other, each as long as its weight, and beside them
  /// the waits that get stacks, scaled to the same length. A wait gets those of the donor beside a point of
  /// it.
  struct Line {
    std::uint32_t donor = 0;  ///< index into what the line is of
    std::uint32_t end = 0;
    double through = 0;   ///< where the donor ends
    double given_ns = 0;  ///< the length of the waits up to here
    double scale = 0;     ///< weight that lies beside 1 ns of waits
  };

  /// Stretches of which all together have as much time without stacks as their donors speak for. What one's
  /// donors have too much goes to those whose donors have too little.
  struct Pool {
    double expected = 0;
    double left_out_ns = 0;
    double mass = 0;
    std::uint32_t joined = kNone;  ///< the pool that this one became part of
    std::uint32_t any_donor = kNone;
    double weight = 0;
    Line spare;  ///< of Half::spare_donors
  };
  /// A stretch in its pool.
  struct Share {
    Line own;           ///< of donors_by_stretch_
    double own_ns = 0;  ///< how much of its time gets stacks of its own donors
    std::uint32_t pool = kNone;
    float spare_part = 0;  ///< how much of its donors' weight others get
  };

  /// The waiters' stacks, or the wakers'. Both go the same way, so that where both come from the same stretch
  /// they come from the same wait.
  struct Half {
    std::vector<Pool> pools;  ///< one for each stretch; so has `shares`
    std::vector<Share> shares;
    std::vector<std::uint32_t> spare_donors;  ///< those of each pool in order of time, from anywhere on

    void join(std::uint32_t pool, std::uint32_t other);
    void end_joining(std::uint32_t stretch);
  };

  static Cell cell_of(const offwait_wait& record, const Threads& threads, double probability);
  static bool woken_by_thread(const Stretch& stretch);
  /// `mass`: time of left-out waits that it speaks for. `certain_ns`: a wait of this length was certain to be
  /// drawn.
  void add_donor(std::uint32_t stretch, const offwait_wait& record, double mass, double certain_ns);
  void share_out();
  void sort_donors();
  void share_out(Half& half, const std::vector<std::uint32_t>& stretches,
                 std::span<const Level> levels) const;
  void make_pools(Half& half, std::vector<std::uint32_t> pools, std::span<const Level> levels) const;
  void weigh(Half& half, const std::vector<std::uint32_t>& stretches) const;
  void collect_spare(Half& half) const;
  double spare_weight(const Half& half, std::uint32_t donor) const;
  static double weight(const Pool& pool, const Donor& donor);
  /// Null if there is no donor.
  const Stacks* deal(Half& half, std::uint32_t stretch, double length_ns) const;

  std::unordered_map<Cell, Stretches, CellHash> cells_;
  std::vector<Stretch> stretches_;
  std::vector<Donor> donors_;
  std::vector<std::uint32_t> donors_by_stretch_;
  Half waiters_;
  Half wakers_;
  bool shared_out_ = false;
  std::uint64_t waits_with_stacks_ = 0;
  std::uint64_t waits_without_stacks_ = 0;
};

/// For a wait whose stacks were taken by chance: 1 ÷ the probability of that. 1 for all other waits.
double stands_for(const offwait_wait& record);

}  // namespace offwait
