// SPDX-License-Identifier: GPL-2.0-or-later
// Where threads of knots wait for each other: the same function from two lines, or one barrier from two
// functions, is one place.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/wait_graph.h"
#include "knot/knots.h"
#include "knot/pattern.h"
#include "model/trace.h"

namespace offwait {

/// What a wait stack says of the waits in it.
struct WaitPlace {
  std::uint32_t place = 0;  ///< equal for equal places
  WaitedAt at = WaitedAt::unknown;
};

/// By StackId, for the stacks of the knots' waits on futexes and in polls; the others are places of their
/// own.
/// - A barrier or a lock, by the functions' names, is one place for all threads that wait for that object,
///   wherever they were called from.
/// - What is no lock (a condition, or nothing that a name tells) is one place for the threads that wait for
///   one object in one function: both ends of a queue may wait for one condition, and one function may wait
///   for both.
/// - Where most of a stack's waits are for no one object, the function decides.
std::vector<WaitPlace> wait_places(const Trace& trace, const WaitGraph& graph,
                                   const std::vector<Knot>& knots);

}  // namespace offwait
