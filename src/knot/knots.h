// SPDX-License-Identifier: GPL-2.0-or-later
// Knots and sinks of a weighted wait-for graph, refined (wPerf §3.2–§3.3, doc/method.md "Finding knots").
// The search knows neither waits nor stacks: it takes a graph of numbers and returns the parts that no wait
// leads out of.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "base/thresholds.h"

namespace offwait {

using VertexId = std::uint32_t;

struct KnotVertex {
  enum class Kind : std::uint8_t {
    thread,  ///< a thread or a group of threads
    device,  ///< a disk or a nic
    pseudo,  ///< timer, irq, softirq: edges to it are set aside before the search
  };
  Kind kind = Kind::thread;
  /// For threads: running + runnable, ns, of the busiest member. For devices: window × (1 − idle fraction).
  Nanos busy_ns = 0;
  /// For threads: running + runnable, ns, summed over the members: the CPU time that it uses or could use.
  /// For devices: 0.
  Nanos cpu_ns = 0;
  bool target = true;  ///< it belongs to the target, whose progress the user asks about
  /// For threads: running + runnable + asleep, ns, of the member with the most. A sleep may stand for
  /// something that is not recorded, such as a rate limit or a remote service. When such threads were taken
  /// for background, 13 of the 23 sleeps of tests/planted were missed.
  Nanos paced_ns = 0;
  /// For threads: running + runnable + asleep + waiting for a disk, ns, summed over the members.
  Nanos active_ns = 0;
  /// A thread runs, or a device is busy, for kAlwaysRunning of the window. Its own waits then cannot limit,
  /// so they are set aside, and it is a sink.
  bool always_running = false;
};

struct KnotEdge {
  VertexId from = 0;
  VertexId to = 0;
  Nanos weight_ns = 0;
  /// The most that shortening the wait can gain, if that is more than its weight; else 0. Refinement must not
  /// drop an edge with a large gain (wPerf §3.4). With few CPUs a wait for a disk gains more than its weight:
  /// a thread that no longer waits for the disk also skips the CPU queue that follows. On two CPUs beside a
  /// compiler, MariaDB's connections waited 131 µs for the disk and then 75 µs for a CPU; without the flush
  /// it was 1.9 to 3.3 times as fast, while the edge weighed 12 to 38 % of the window from run to run.
  Nanos gain_ns = 0;
  /// The weight of waits for requests from outside, which is not part of weight_ns. Like waits for a time,
  /// these are waits for no vertex of the graph.
  Nanos requests_ns = 0;
};

struct KnotOptions {
  Nanos window_ns = 0;
  Nanos noise_ns = 0;  ///< edges under it are set aside (--noise, default 1 % of the window)
  /// Refinement drops no edge of this weight or gain or more (--min-weight, default 20 %).
  Nanos min_weight_ns = 0;
  /// A sink is an answer if it is busy for at least this fraction of the window; a knot without a device is
  /// refined if its threads together are. Threads that a lock serialises use at most one CPU, and never quite
  /// one.
  double always_busy = kAlwaysBusy;
  /// A thread that is active for this fraction of the window does the work; a vertex that it waits for
  /// heavily is no background. The threads of an idle pool are less active.
  double works = 0.1;
};

/// A strongly connected component without an edge out of it, of two vertices or more, or one with a
/// self-loop.
struct Knot {
  std::vector<VertexId> vertices;    ///< ascending
  std::vector<std::uint32_t> edges;  ///< indices into the input's edges, heaviest first
  bool background = false;           ///< uses little CPU and no device: reported, but not what limits
  Nanos weight_ns = 0;               ///< sum over its edges
};

struct KnotSink {
  VertexId vertex = 0;
  bool saturated = false;  ///< busy for KnotOptions::always_busy of the window
  /// The vertex is not saturated, but runs or sleeps all the time, and threads that do the work wait for it.
  bool paced = false;

  bool limits() const { return saturated || paced; }  ///< else background
};

/// One step of the search, for --explain, in the order taken.
struct KnotStep {
  enum class Reason : std::uint8_t {
    noise,            ///< edge under the noise floor, set aside
    to_pseudo,        ///< edge to a timer or an interrupt, set aside
    requests,         ///< edge under the noise floor without its waits for requests from outside, set aside
    always_running,   ///< edge of a vertex that runs all the time, set aside
    apart,            ///< edge of a vertex that no target vertex waits for, set aside
    light,            ///< edge dropped by refinement because it was the lightest
    background_sink,  ///< vertex removed because it is a sink that does not limit
    background_knot,  ///< vertex removed because its knot uses less than one CPU and no device
    kept,             ///< refinement undone back to `edge`, because it would have left only background
  };
  Reason reason = Reason::noise;
  std::optional<std::uint32_t>
      edge;  ///< index into the input's edges; for `kept` the first edge that is back
  std::optional<VertexId> vertex;
  Nanos weight_ns = 0;  ///< the edge's weight_ns + requests_ns, or the vertex's busy_ns
};
/// `noise`, `to-pseudo`, `saturated` (always_running), … as in the report.
std::string_view to_string(KnotStep::Reason reason);

struct KnotResult {
  std::vector<Knot> knots;  ///< answers first (heaviest first), then background ones (heaviest first)
  /// Saturated ones first, then paced ones, then by busy_ns. A vertex whose edges were all set aside, or that
  /// has none, is here only if it is saturated.
  std::vector<KnotSink> sinks;
  /// Everything that was found is background. The background knots, if there are any, are then the answer.
  bool only_background = false;
  std::vector<KnotStep> steps;
};

/// 1. Three kinds of edges are set aside: edges to pseudo vertices (these have no outgoing edges and would
///    swallow every knot), edges under the noise floor, and edges from vertices that run all the time. Then
///    the edges of vertices that no target vertex waits for, directly or through others, are set aside (a
///    device waits for nobody in this sense): another program that uses the same disk has its own knots,
///    which are not the target's. If no vertex is a target, all are.
/// 2. The search looks at strong components whose edges lead nowhere else but to vertices removed as
///    background. A sink that is busy for `always_busy` of the window is an answer; any other sink is
///    background. A knot without a device whose cpu_ns sum to less than `always_busy` of the window is
///    background; any other knot is refined.
///    There are two exceptions, if threads that do the work wait heavily for the vertex or knot: a sink whose
///    paced_ns is `always_busy` of the window is an answer, and a knot whose active_ns sum to that is
///    refined. Heavily means by edges with min_weight_ns or more of weight or gain, directly or through other
///    threads; idle edges of devices do not count.
/// 3. Refinement: while the knot is no single vertex and no simple cycle and has an edge (self-loops
///    included) whose weight and gain are under min_weight_ns, the lightest such edge is dropped. When the
///    knot is no longer strongly connected, step 2 is done inside it. If that finds only background, the knot
///    is the answer with all the edges it had before its first one was dropped, and nothing found inside
///    counts.
/// Among edges of equal weight the one with the smaller (from, to, index) goes first, so that the result does
/// not depend on the order of the input.
///
/// Every edge joins two vertices < vertices.size(); parallel edges are allowed. An empty window has no
/// result. Takes O(E log E) time, however often knots split (split.h), and does not recurse along the graph.
KnotResult find_knots(const std::vector<KnotVertex>& vertices, const std::vector<KnotEdge>& edges,
                      const KnotOptions& options);

}  // namespace offwait
