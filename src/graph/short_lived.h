// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that come and go, one after the other (wPerf §3.3 "Short-term threads", doc/design.md "Graph"): a
// server that starts a thread for each connection, a program that forks a child for each task. None of them
// is a worker, whose throughput would grow with the program's; together they are one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// Threads that become one virtual thread.
struct ShortLived {
  std::vector<ActorId> members;  ///< two or more, in order of id
  /// Waits while no member lives, for the creator of the next one.
  ActorId stand_in = kNoActor;
  Nanos alive_ns = 0;  ///< at least one member lives
  Nanos busy_ns = 0;   ///< at least one member is running or runnable
};

/// A trace together with the stand-ins of its short-lived threads. Steps that speak of what was recorded use
/// actors(), sites() and waits(), which leave the stand-ins out; ids are the same in both.
class TraceWithStandIns {
 public:
  /// Without any stand-in.
  explicit TraceWithStandIns(Trace trace);

  /// What was recorded, and after that the stand-ins with their sites and waits. sweep() takes it; validate()
  /// need not.
  const Trace& all() const { return trace_; }
  std::span<const Actor> actors() const { return std::span(trace_.actors).first(actors_); }
  std::span<const WaitSite> sites() const { return std::span(trace_.sites).first(sites_); }
  std::span<const Wait> waits() const { return std::span(trace_.waits).first(waits_); }

  bool is_stand_in(ActorId actor) const { return actor >= actors_; }
  const std::vector<ShortLived>& groups() const { return groups_; }  ///< in order of their stand-ins

 private:
  friend class StandIns;
  Trace trace_;
  std::vector<ShortLived> groups_;
  std::size_t actors_;
  std::size_t sites_;
  std::size_t waits_;
};

/// Finds the threads that are short-lived and adds a stand-in with its waits for each group of
/// them. These are born and dead inside the window and live for at most half of it; have one process, or were
/// forked by one as processes of their own; are all `outside` or none; have names that differ at most in
/// digits; and follow each other: there are twice as many of them as ever lived at once (a pool that is
/// started and stopped inside the window is none). Threads without a name or whose process is not known are
/// left alone.
///
/// The stand-in's waits are of class `other`, in a stack of one frame, `[no thread of it alive]`. They have a
/// waker if the creator of the thread that ends them is known and was not blocked then.
///
/// The trace must satisfy validate(). Move it in: its waits are not copied.
TraceWithStandIns stand_in_for_short_lived(Trace trace);

/// A name with each run of digits as one `0`: equal for names that differ at most in digits.
std::string name_pattern(std::string_view name);

}  // namespace offwait
