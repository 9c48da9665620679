// SPDX-License-Identifier: GPL-2.0-or-later
// The history of each thread: its waits, preemptions and gaps as one sequence in order of time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/nanos.h"
#include "model/by_thread.h"
#include "model/trace.h"

namespace offwait {

/// The stretch [from, to) of a thread's life that one entry of a trace covers: a wait up to its `run`, a
/// preemption, or a gap. `to` is kNever when the entry has no end.
struct Interval {
  enum class Kind : std::uint8_t { wait, preemption, gap };
  Kind kind = Kind::wait;
  std::uint32_t index = 0;  ///< into Trace::waits, Trace::preemptions or Trace::gaps
  Nanos from = 0;
  Nanos to = 0;
};

/// The entries of one thread, each kind in order of time, as indices into the trace's vectors.
struct History {
  std::span<const std::uint32_t> waits;
  std::span<const std::uint32_t> preemptions;
  std::span<const std::uint32_t> gaps;
};

/// The entries of all threads, grouped by thread, as indices of 4 bytes each. The ids of the trace's entries
/// must be valid.
class Histories {
 public:
  explicit Histories(const Trace& trace);
  History of(ActorId thread) const { return {waits_.of(thread), preemptions_.of(thread), gaps_.of(thread)}; }

 private:
  ByThread waits_;
  ByThread preemptions_;
  ByThread gaps_;
};

/// The entries of one thread without the first ones, those for which is_over(index) holds.
template <class IsOver>
std::span<const std::uint32_t> without_first(std::span<const std::uint32_t> indices, IsOver is_over) {
  const auto rest = std::partition_point(indices.begin(), indices.end(), is_over);
  return indices.subspan(static_cast<std::size_t>(rest - indices.begin()));
}

/// How many of the waits of one thread (History::waits) begin before `time`. Only the last of these can reach
/// to `time`.
inline std::size_t begun_before(const Trace& trace, std::span<const std::uint32_t> waits, Nanos time) {
  if (waits.empty() || trace.waits[waits.front()].block >= time) return 0;
  const auto rest = std::partition_point(waits.begin(), waits.end(), [&trace, time](std::uint32_t index) {
    return trace.waits[index].block < time;
  });
  return static_cast<std::size_t>(rest - waits.begin());
}

/// Takes the interval that begins first off `rest`; nothing if `rest` is empty. If two intervals begin
/// together, the shorter one comes first, because an empty interval may touch the start of another.
std::optional<Interval> take_next(const Trace& trace, History& rest);

/// The first interval of a thread that does not fit the thread's life or its earlier intervals.
struct OrderFault {
  enum class Kind : std::uint8_t {
    before_birth,  ///< `interval` begins before the thread was born
    overlap,       ///< `interval` begins before `previous` ends
    after_exit,    ///< `interval` begins or ends after the thread's exit
  };
  Kind kind = Kind::overlap;
  ActorId thread = kNoActor;
  Interval interval;
  Interval previous;  ///< set for an overlap
};

/// Checks that the intervals of each thread are in order of time, disjoint (they may touch) and inside the
/// thread's lifetime. An interval without an end was cut off by the window's end or by the exit and may reach
/// past the exit. Returns the first fault, or nothing.
std::optional<OrderFault> find_order_fault(const Trace& trace);

}  // namespace offwait
