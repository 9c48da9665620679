// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/left_out_stacks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace offwait {

namespace {

/// If this many draws are expected, one case of 3,000 has no draw at all.
constexpr double kEnoughDraws = 8;
/// More would take too long where each wait has stacks of its own.
constexpr int kDonorsLookedAt = 4;
/// A smaller part of a stretch's donors than this comes from rounding.
constexpr double kLeastSpare = 1e-9;

// Bits of a Cell: first the threads, then the place.
constexpr std::uint64_t kWaiterBits = 0xffffffff'00000000;
constexpr std::uint64_t kWakerBits = 0xffffffff;
constexpr std::uint64_t kPlaceBits = 0xffffff00'00000000;
constexpr std::uint64_t kWakerKindBits = 0xff00;
constexpr std::uint64_t kSentBit = 0x80;
constexpr std::uint64_t kLengthBits = 0xf;

/// The draw of a wait.
struct Drawing {
  double length_ns = 0;    ///< no longer than a wait that is certain to be drawn
  double probability = 1;  ///< of being drawn
  double certain_ns = 0;   ///< a wait of this length is certain to be drawn
};

Drawing drawing_of(const offwait_wait& record) {
  const std::uint64_t length = record.wake_ns > record.block_ns ? record.wake_ns - record.block_ns : 0;
  const auto bits = static_cast<int>(record.draw >> OFFWAIT_DRAW_BITS_SHIFT & OFFWAIT_DRAW_BITS_MASK);
  Drawing drawing;
  drawing.length_ns = static_cast<double>(length);
  drawing.certain_ns = drawing.length_ns;
  if ((record.draw & OFFWAIT_DRAW_CHANCE) == 0) return drawing;
  drawing.certain_ns = std::ldexp(1.0, bits);
  drawing.length_ns = std::min(drawing.length_ns, drawing.certain_ns);
  drawing.probability = drawing.length_ns / drawing.certain_ns;
  return drawing;
}

bool was_sent(const offwait_wait& record) { return (record.flags & OFFWAIT_WAIT_SENT) != 0; }

/// Waits of one class are drawn with about the same probability; all that are hardly ever drawn are of class
/// 0.
std::uint64_t length_class(double probability) {
  return (probability >= 0.125 ? 1U : 0U) + (probability >= 0.25 ? 1U : 0U) + (probability >= 0.5 ? 1U : 0U) +
         (probability >= 1 ? 1U : 0U);
}

/// A number from [0, 1) that has nothing to do with any stack, but is the same in each run.
double arbitrary(std::uint64_t from) {
  std::uint64_t bits = from * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93ULL;
  bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93ULL;
  return std::ldexp(static_cast<double>(bits >> 11), -53);
}

template <class Pool>
bool has_enough(const Pool& pool) {
  return pool.expected >= kEnoughDraws && pool.mass > 0;
}

}  // namespace

std::size_t LeftOutStacks::CellHash::operator()(const Cell& cell) const {
  const std::uint64_t sum = cell.threads * 0x9e3779b97f4a7c15ULL + cell.place * 0xc2b2ae3d27d4eb4fULL;
  return sum ^ sum >> 32;
}

LeftOutStacks::Cell LeftOutStacks::cell_of(const offwait_wait& record, const Threads& threads,
                                           double probability) {
  const std::uint64_t place = record.draw >> OFFWAIT_DRAW_PLACE_SHIFT;
  return {std::uint64_t{threads.waiter} << 32 | threads.waker,
          place << 40 | std::uint64_t{record.waker_kind} << 8 | (was_sent(record) ? kSentBit : 0) |
              length_class(probability)};
}

bool LeftOutStacks::woken_by_thread(const Stretch& stretch) {
  return (stretch.cell.place & kWakerKindBits) >> 8 == OFFWAIT_WAKER_THREAD;
}

double stands_for(const offwait_wait& record) {
  const bool taken = (record.draw & OFFWAIT_DRAW_TAKEN) != 0;
  const double probability = drawing_of(record).probability;
  return taken && probability > 0 ? 1 / probability : 1;
}

void LeftOutStacks::note(const offwait_wait& record, const Threads& threads) {
  if (record.draw == 0) return;
  const Drawing drawing = drawing_of(record);
  const Cell cell = cell_of(record, threads, drawing.probability);
  Stretches& known = cells_[cell];
  if (known.current == kNone || stretches_[known.current].expected >= kEnoughDraws) {
    const auto added = static_cast<std::uint32_t>(stretches_.size());
    stretches_.emplace_back().cell = cell;
    (known.current == kNone ? known.first : stretches_[known.current].next) = added;
    known.current = added;
  }
  Stretch& stretch = stretches_[known.current];
  stretch.expected += drawing.probability * (1 - drawing.probability);
  if ((record.draw & OFFWAIT_DRAW_TAKEN) == 0) {
    ++waits_without_stacks_;
    ++stretch.left_out;
    stretch.left_out_ns += drawing.length_ns;
    stretch.wakings += record.wake_ns;
  } else {
    ++waits_with_stacks_;
    const double mass = drawing.certain_ns - drawing.length_ns;
    stretch.mass += mass;
    add_donor(known.current, record, mass, drawing.certain_ns);
  }
}

void LeftOutStacks::add_donor(std::uint32_t stretch, const offwait_wait& record, double mass,
                              double certain_ns) {
  const Stacks stacks{record.wait_user, record.wait_kernel, record.waker_user,
                      was_sent(record) ? 0 : record.waker_kernel};
  const double own_part = mass > 0 ? mass * (mass / certain_ns) : 0;
  std::uint32_t& last = stretches_[stretch].last_donor;
  // Waits that were drawn one after the other are one donor while they speak for less than one that was
  // hardly ever drawn does: where nearly all are drawn, few donors are kept.
  std::uint32_t at = last;
  for (int looked_at = 0; at != kNone && looked_at < kDonorsLookedAt; ++looked_at) {
    Donor& donor = donors_[at];
    const bool has_room = mass > 0 ? donor.mass > 0 && donor.mass + mass <= certain_ns : donor.mass == 0;
    if (has_room && donor.stacks == stacks) {
      donor.mass += mass;
      donor.own_part += own_part;
      return;
    }
    at = donor.before;
  }
  const auto added = static_cast<std::uint32_t>(donors_.size());
  donors_.push_back({stacks, stretch, last, mass, own_part});
  last = added;
}

void LeftOutStacks::Half::join(std::uint32_t pool, std::uint32_t other) {
  Pool& into = pools[other];
  into.expected += pools[pool].expected;
  into.left_out_ns += pools[pool].left_out_ns;
  into.mass += pools[pool].mass;
  pools[pool].joined = other;
}

void LeftOutStacks::Half::end_joining(std::uint32_t stretch) {
  std::uint32_t pool = stretch;
  while (pools[pool].joined != kNone) pool = pools[pool].joined;
  if (pool != stretch) pools[stretch].joined = pool;
  shares[stretch].pool = pool;
}

/// What has too few draws at a level joins the others of its group there that have too few. If they are too
/// few together, they join a pool of the group that has enough. If there is none, the next level decides.
void LeftOutStacks::make_pools(Half& half, std::vector<std::uint32_t> pools,
                               std::span<const Level> levels) const {
  struct Group {
    std::uint32_t enough = kNone;  ///< the last pool of the group that has
    std::uint32_t rest = kNone;
  };
  for (const Level& level : levels) {
    std::unordered_map<Cell, Group, CellHash> groups;
    const auto group_of = [&](std::uint32_t pool) -> Group& {
      const Cell& cell = stretches_[pool].cell;
      return groups[{cell.threads & level.threads, cell.place & level.place}];
    };
    for (const std::uint32_t pool : pools) {
      Group& group = group_of(pool);
      if (has_enough(half.pools[pool])) {
        group.enough = pool;
      } else if (group.rest == kNone) {
        group.rest = pool;
      } else {
        half.join(pool, group.rest);
      }
    }
    std::vector<std::uint32_t> next;
    for (const std::uint32_t pool : pools) {
      const Group& group = group_of(pool);
      const bool too_few = pool == group.rest && !has_enough(half.pools[pool]);
      if (too_few && group.enough != kNone) half.join(pool, group.enough);
      if (pool == (group.enough != kNone ? group.enough : group.rest)) next.push_back(pool);
    }
    pools = std::move(next);
  }
}

/// Where a wait was drawn there is more mass to share the time with, and less time to share. So its mass must
/// count for more, the more of it there is; else short waits, whose mass is largest, would get too little.
double LeftOutStacks::weight(const Pool& pool, const Donor& donor) {
  return pool.mass > 0 ? donor.mass + donor.own_part / std::max(pool.expected, 1.0) : 1;
}

void LeftOutStacks::weigh(Half& half, const std::vector<std::uint32_t>& stretches) const {
  std::vector<double> weights(stretches_.size(), 0);
  for (const std::uint32_t stretch : stretches) {
    half.end_joining(stretch);
    Share& share = half.shares[stretch];
    Pool& pool = half.pools[share.pool];
    share.own.donor = stretches_[stretch].donors_begin;
    share.own.end = stretches_[stretch].donors_end;
    for (std::uint32_t i = share.own.donor; i < share.own.end; ++i) {
      pool.any_donor = donors_by_stretch_[i];
      weights[stretch] += weight(pool, donors_[pool.any_donor]);
    }
    pool.weight += weights[stretch];
  }
  for (const std::uint32_t stretch : stretches) {
    Share& share = half.shares[stretch];
    const Pool& pool = half.pools[share.pool];
    if (weights[stretch] <= 0 || pool.left_out_ns <= 0) continue;
    const double left_out_ns = stretches_[stretch].left_out_ns;
    const double spoken_for_ns = weights[stretch] * (pool.left_out_ns / pool.weight);
    share.own_ns = std::min(spoken_for_ns, left_out_ns);
    if (share.own_ns > 0) share.own.scale = weights[stretch] / share.own_ns;
    share.own.through = weight(pool, donors_[donors_by_stretch_[share.own.donor]]);
    const double spare_part = 1 - share.own_ns / spoken_for_ns;
    if (spare_part > kLeastSpare) share.spare_part = static_cast<float>(spare_part);
  }
}

double LeftOutStacks::spare_weight(const Half& half, std::uint32_t donor) const {
  const Share& share = half.shares[donors_[donor].stretch];
  return weight(half.pools[share.pool], donors_[donor]) * double{share.spare_part};
}

void LeftOutStacks::collect_spare(Half& half) const {
  for (const Donor& donor : donors_) {
    const Share& share = half.shares[donor.stretch];
    if (share.spare_part > 0) ++half.pools[share.pool].spare.end;
  }
  std::uint32_t begin = 0;
  for (Pool& pool : half.pools) {
    pool.spare.donor = begin;
    begin += std::exchange(pool.spare.end, begin);
    if (pool.left_out_ns > 0) pool.spare.scale = pool.weight / pool.left_out_ns;
  }
  half.spare_donors.resize(begin);
  for (std::uint32_t i = 0; i < donors_.size(); ++i) {
    const Share& share = half.shares[donors_[i].stretch];
    if (share.spare_part > 0) half.spare_donors[half.pools[share.pool].spare.end++] = i;
  }
  // Rounding gives the donors at an end of the line too much or too little. These must not always be the same
  // donors.
  for (std::size_t i = 0; i < half.pools.size(); ++i) {
    Line& line = half.pools[i].spare;
    if (line.donor == line.end) continue;
    const std::span<std::uint32_t> donors =
        std::span(half.spare_donors).subspan(line.donor, line.end - line.donor);
    const double first = stretches_[i].point * static_cast<double>(donors.size());
    std::rotate(donors.begin(), donors.begin() + static_cast<std::ptrdiff_t>(first), donors.end());
    line.through = spare_weight(half, donors.front());
  }
}

void LeftOutStacks::sort_donors() {
  for (const Donor& donor : donors_) ++stretches_[donor.stretch].donors_end;
  std::uint32_t begin = 0;
  for (Stretch& stretch : stretches_) {
    stretch.donors_begin = begin;
    begin += std::exchange(stretch.donors_end, begin);
  }
  donors_by_stretch_.resize(begin);
  for (std::uint32_t i = 0; i < donors_.size(); ++i)
    donors_by_stretch_[stretches_[donors_[i].stretch].donors_end++] = i;
}

void LeftOutStacks::share_out(Half& half, const std::vector<std::uint32_t>& stretches,
                              std::span<const Level> levels) const {
  half.shares.resize(stretches_.size());
  half.pools.resize(stretches_.size());
  for (const std::uint32_t stretch : stretches) {
    half.pools[stretch].expected = stretches_[stretch].expected;
    half.pools[stretch].left_out_ns = stretches_[stretch].left_out_ns;
    half.pools[stretch].mass = stretches_[stretch].mass;
  }
  make_pools(half, stretches, levels);
  weigh(half, stretches);
  collect_spare(half);
}

void LeftOutStacks::share_out() {
  shared_out_ = true;
  for (auto& [cell, stretches] : cells_) stretches.current = stretches.first;
  for (Stretch& stretch : stretches_) stretch.point = arbitrary(stretch.wakings);
  sort_donors();
  std::vector<std::uint32_t> all(stretches_.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::uint32_t> by_threads;
  std::copy_if(all.begin(), all.end(), std::back_inserter(by_threads),
               [this](std::uint32_t stretch) { return woken_by_thread(stretches_[stretch]); });
  static constexpr Level kAll{~std::uint64_t{0}, ~std::uint64_t{0}};
  static constexpr Level kAnyLength{kAll.threads, ~kLengthBits};
  share_out(waiters_, all,
            std::array<Level, 4>{kAll, kAnyLength, Level{kWaiterBits, kPlaceBits}, Level{0, kPlaceBits}});
  share_out(wakers_, by_threads,
            std::array<Level, 4>{kAll, kAnyLength, Level{kWakerBits, ~kLengthBits},
                                 Level{kWakerBits, kWakerKindBits | kSentBit}});
}

const LeftOutStacks::Stacks* LeftOutStacks::deal(Half& half, std::uint32_t stretch, double length_ns) const {
  Share& share = half.shares[stretch];
  const double point_ns = stretches_[stretch].point * length_ns;
  Line& own = share.own;
  const double own_at_ns = own.given_ns + point_ns;
  own.given_ns += length_ns;
  if (own_at_ns < share.own_ns) {
    while (own_at_ns * own.scale >= own.through && own.donor + 1 < own.end)
      own.through += weight(half.pools[share.pool], donors_[donors_by_stretch_[++own.donor]]);
    return &donors_[donors_by_stretch_[own.donor]].stacks;
  }
  Pool& pool = half.pools[share.pool];
  if (pool.any_donor == kNone) return nullptr;
  Line& spare = pool.spare;
  if (spare.donor == spare.end) return &donors_[pool.any_donor].stacks;
  const double spare_at_ns = spare.given_ns + point_ns;
  spare.given_ns += length_ns;
  while (spare_at_ns * spare.scale >= spare.through && spare.donor + 1 < spare.end)
    spare.through += spare_weight(half, half.spare_donors[++spare.donor]);
  return &donors_[half.spare_donors[spare.donor]].stacks;
}

void LeftOutStacks::fill(offwait_wait& record, const Threads& threads) {
  if (record.draw == 0 || (record.draw & OFFWAIT_DRAW_TAKEN) != 0) return;
  if (!shared_out_) share_out();
  const Drawing drawing = drawing_of(record);
  const auto found = cells_.find(cell_of(record, threads, drawing.probability));
  if (found == cells_.end()) return;
  std::uint32_t& current = found->second.current;
  while (stretches_[current].left_out == 0) {
    if (stretches_[current].next == kNone) return;
    current = stretches_[current].next;
  }
  --stretches_[current].left_out;
  if (const Stacks* waiter = deal(waiters_, current, drawing.length_ns)) {
    record.wait_user = waiter->wait_user;
    record.wait_kernel = waiter->wait_kernel;
  }
  if (!woken_by_thread(stretches_[current])) return;
  if (const Stacks* waker = deal(wakers_, current, drawing.length_ns)) {
    record.waker_user = waker->waker_user;
    if (!was_sent(record)) record.waker_kernel = waker->waker_kernel;
  }
}

}  // namespace offwait
