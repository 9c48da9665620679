// SPDX-License-Identifier: GPL-2.0-or-later
// Whether waits for one thing begin and end as waits for a lock do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "progress/time_outs.h"

namespace offwait {

/// What waits for one object, or in one place, show. Counts are of waits that threads ended in the window. A
/// thread that is woken just after another one looked and found the thing free, and that waits again at once,
/// waits on: what woke it does not count.
struct Passing {
  std::size_t threads = 0;  ///< that waited
  std::uint64_t ended = 0;
  std::uint64_t by_waiters = 0;  ///< by a thread that waits there itself
  /// By a thread that had got it: its own wait there had ended since it last ended one. Or it did not have to
  /// wait: then the waiter came after the last wait that it ended.
  std::uint64_t passed_on = 0;
  std::uint64_t others_stay = 0;  ///< others went on waiting
  std::uint64_t looked = 0;       ///< after time-outs in vain: the thread had looked whether it was free
  std::uint64_t in_line = 0;      ///< of a thread that waited already when the wait before ended
  std::uint64_t in_line_by_holder = 0;  ///< of these: by a thread that had got it by a wait
  std::uint64_t shared = 0;  ///< while another thread had got it, and neither passed it on nor waited again
};

/// `waits` are indices into Trace::waits, in any order; of very many the first ones count. O(n log n).
Passing passing_of(const Trace& trace, const TimeOuts& time_outs, std::vector<std::uint32_t> waits);

/// One thread has it and passes it on to one of those that wait, which wait there again: neither a queue
/// (threads that do not wait there end the waits), nor a barrier or a broadcast (several go on at once), nor
/// a resource that several have, nor what others wait for of one that never had to wait (a value that one
/// thread fetches for all). Two threads that let each other go in turns may as well play ping-pong: they
/// count if others go on waiting, or if the waiting threads look again and again whether it is free.
bool passes_like_a_lock(const Passing& passing);

}  // namespace offwait
