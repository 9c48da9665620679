// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that do the same, whatever they are called.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "graph/thread_kinds.h"
#include "model/trace.h"

namespace offwait {

/// The waits of a site, or of several, that ended in the window.
struct EndedWaits {
  std::uint64_t waits = 0;
  Nanos ns = 0;
  void add(const EndedWaits& more) {
    waits += more.waits;
    ns += more.ns;
  }
};

/// By SiteId.
std::vector<EndedWaits> waits_ended(const Trace& trace);

/// By StackId: equal for stacks of the same functions.
std::vector<std::uint32_t> places_of(const Trace& trace);

/// By ThreadKind: the first kind whose threads do the same work, which may be the kind itself. `kinds` is by
/// ActorId, numbered from 0 on without gaps. `programs`, by ActorId, is equal for threads of one program.
/// Threads do the same if
/// - they are of one program;
/// - they wait for one object in one place, three or more, and end each other's waits there, as with a lock;
/// - nine tenths of the waits of each kind, by number and by time, have stacks in which the other waits, too.
/// Waits without a stack do not count. `places` are places_of().
std::vector<ThreadKind> kinds_of_same_work(const Trace& trace, const std::vector<ThreadKind>& kinds,
                                           const std::vector<std::uint32_t>& programs,
                                           const std::vector<EndedWaits>& ended,
                                           const std::vector<std::uint32_t>& places);

/// For each thread its own id if it is the main thread of the oldest process of its kind and does other work
/// than the rest, as a process does that made the others and looks after them; else kNoActor. It waited three
/// times or more, and less than a tenth of that, by number and by time, in places where another thread of its
/// kind waited, too. Waits without a stack do not count.
std::vector<ActorId> makers_of_processes(const Trace& trace, const std::vector<ThreadKind>& kinds,
                                         const std::vector<EndedWaits>& ended,
                                         const std::vector<std::uint32_t>& places);

}  // namespace offwait
