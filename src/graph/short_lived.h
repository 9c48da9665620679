// SPDX-License-Identifier: GPL-2.0-or-later
// Short-lived threads, which follow each other (wPerf §3.3 "Short-term threads", doc/design.md "Graph"): a
// server starts a thread for each connection, or a program forks a child for each task. A single one of them
// is no worker whose throughput grows with the program's; together they are one worker.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// Threads that become one virtual thread.
struct ShortLived {
  std::vector<ActorId> members;  ///< two or more, in order of id
  /// Waits while no member lives, for the creator of the next one.
  ActorId stand_in = kNoActor;
  Nanos alive_ns = 0;  ///< time in which at least one member lives
  Nanos busy_ns = 0;   ///< time in which at least one member is running or runnable
};

/// A trace together with the stand-ins of its short-lived threads. Steps that need only recorded entries use
/// actors(), sites() and waits(), which leave the stand-ins out; ids are the same in both.
class TraceWithStandIns {
 public:
  /// A trace without stand-ins.
  explicit TraceWithStandIns(Trace trace);

  /// The recorded entries, followed by the stand-ins with their sites and waits. sweep() accepts this trace;
  /// it need not satisfy validate().
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

/// Finds groups of short-lived threads, and adds a stand-in with its waits for each group. The threads of a
/// group
/// - are born and exit inside the window, and live for at most half of it;
/// - belong to one process, to short-lived processes that are called alike, or are processes of their own,
///   whoever forked them: a build's compilers, the commands of a shell's loop;
/// - are all `outside` or none, and have names that differ at most in digits;
/// - follow each other. Threads are at least twice as many as ever lived at once, so that a pool that is
///   started and stopped inside the window is no group; processes are more than ever lived at once.
/// Processes like these that the window's start or end cuts off belong to the group as well. Threads without
/// a name, or whose process is not known, are in no group.
///
/// The stand-in's waits are of class `other`, in a stack of one frame, `[no thread of it alive]`. The waker
/// of each is the creator of the thread whose birth ends it, if that creator is known and was not blocked at
/// that time.
///
/// The trace must satisfy validate(). Move it in to avoid a copy of its waits.
TraceWithStandIns stand_in_for_short_lived(Trace trace);

}  // namespace offwait
