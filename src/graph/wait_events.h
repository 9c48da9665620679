// SPDX-License-Identifier: GPL-2.0-or-later
// The starts and ends of all waits, in order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/nanos.h"
#include "model/histories.h"
#include "model/trace.h"

namespace offwait {

/// A wait begins or ends. A thread's events alternately begin and end a wait; an empty wait (block == wake)
/// has one event only, and the thread is in no wait then.
struct WaitEvent {
  std::uint64_t key = 0;   ///< 2 × time + 1 for a begin; events are in order of it
  std::uint32_t wait = 0;  ///< index into Trace::waits
  ActorId thread = kNoActor;

  Nanos time() const { return static_cast<Nanos>(key / 2); }  ///< from the window's start, in ns
};

/// The starts of one wait of 64, of those that begin inside the window, in order of time.
std::vector<Nanos> some_begins(const Trace& trace);

/// The events of one part of the window: those at its end belong to it if that is the window's end.
///
/// Waits are clipped to the window and to their threads' exits. Those wholly outside are left out, and one
/// that reaches past the window's end does not end. At one instant ends come before begins: otherwise a
/// thread that is woken and at the same instant wakes another, or waits again, would be a contradiction. Ends
/// at one instant are in order of thread, and so are begins.
///
/// Takes O(1) time for an event, and memory for a batch: some 10,000 events, or two for each thread if that
/// is more.
class WaitEvents {
 public:
  struct OpenWait {
    std::uint32_t wait = 0;  ///< index into Trace::waits
    ActorId thread = kNoActor;
  };

  /// The trace must satisfy validate(). It and the histories must outlive this. `begins`: of some_begins();
  /// a batch has about equally many.
  WaitEvents(const Trace& trace, const Histories& histories, std::span<const Nanos> begins,
             const Window& part);

  /// The waits that began before the part and have not ended by then: by thread, at most one of each.
  const std::vector<OpenWait>& open() const { return open_; }

  /// The next batch; valid until the next call. Empty after the last.
  std::span<const WaitEvent> next();

 private:
  struct Thread {
    ActorId id = kNoActor;
    Nanos exit = kNever;
    std::span<const std::uint32_t> waits;  ///< those to come
    bool in_wait = false;
    WaitEvent end;           ///< of the current wait
    std::uint64_t next = 0;  ///< it has no event before this key
  };

  std::uint64_t key(Nanos time) const { return static_cast<std::uint64_t>(time - trace_.window.begin) * 2; }
  void find_bounds(std::span<const Nanos> begins, const Window& part);
  void skip(Thread& thread, Nanos begin);
  void collect(Thread& thread, std::uint64_t before);

  const Trace& trace_;
  std::vector<Thread> threads_;  ///< those that have events to come
  std::vector<OpenWait> open_;
  std::vector<std::uint64_t> bounds_;  ///< a batch has the keys from one of these up to the next
  std::size_t batch_ = 0;
  std::vector<WaitEvent> events_;
  std::vector<WaitEvent> scratch_;
};

}  // namespace offwait
