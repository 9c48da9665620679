// SPDX-License-Identifier: GPL-2.0-or-later
// Knots and sinks of a weighted wait-for graph, refined (wPerf §3.2–§3.3, doc/method.md "Finding knots").
// The search knows neither waits nor stacks: it is given a graph of numbers and returns the parts of it that
// no wait leads out of.
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
  /// Threads: running + runnable, ns, of the busiest member. Devices: window × (1 − idle fraction).
  Nanos busy_ns = 0;
  /// Threads: running + runnable, ns, summed over the members: what it uses of the CPUs, or would. Devices:
  /// 0.
  Nanos cpu_ns = 0;
  bool target = true;  ///< its progress is what the user asks about
  /// Threads: busy_ns and the time slept until a time, of the member with the most of both: a sleep may stand
  /// for something that nobody records, a rate limit or a remote service.
  Nanos paced_ns = 0;
  /// Threads: running + runnable + asleep + waiting for a disk, ns, summed over the members.
  Nanos active_ns = 0;
  /// It runs (a device: is busy) for kAlwaysRunning of the window: its own waits cannot be what limits, so
  /// they are set aside, and it is a sink.
  bool always_running = false;
};

struct KnotEdge {
  VertexId from = 0;
  VertexId to = 0;
  Nanos weight_ns = 0;
  /// What shortening it can gain at most, where that is more than its weight: else 0. That makes dropping
  /// light edges safe (wPerf §3.4). With few CPUs a wait for a disk gains more than it weighs: a thread that
  /// no longer waits for the disk also skips the CPU queue that follows. On two CPUs beside a compiler,
  /// MariaDB's connections waited 131 µs for the disk and then 75 µs for a CPU; without the flush it was 1.9
  /// to 3.3 times as fast, while the edge weighed 12 to 38 % of the window from run to run.
  Nanos gain_ns = 0;
  /// Not part of weight_ns: what waits for requests from outside weigh. Like waits for a time, they are waits
  /// for nobody in the graph.
  Nanos requests_ns = 0;
};

struct KnotOptions {
  Nanos window_ns = 0;
  Nanos noise_ns = 0;  ///< edges under it are set aside (--noise, default 1 % of the window)
  /// Refinement drops no edge of this weight or gain or more (--min-weight, default 20 %).
  Nanos min_weight_ns = 0;
  /// A sink is an answer when it is busy for at least this fraction of the window, and a knot without a
  /// device when its threads together are: threads that a lock serialises cannot use more than one CPU, and
  /// never quite one.
  double always_busy = kAlwaysBusy;
  /// A thread that is active for this fraction of the window does the work: what it waits for heavily is no
  /// background. An idle pool is less active.
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
  /// Not saturated, but it runs or sleeps all the time, and threads that do the work wait for it.
  bool paced = false;

  bool limits() const { return saturated || paced; }  ///< else background
};

/// One step of the search, for --explain, in the order taken.
struct KnotStep {
  enum class Reason : std::uint8_t {
    noise,            ///< edge under the noise floor, set aside
    to_pseudo,        ///< edge to a timer or an interrupt, set aside
    requests,         ///< edge under the noise floor, but for its waits for requests from outside
    always_running,   ///< edge of a vertex that runs all the time, set aside
    apart,            ///< edge of a vertex that no target vertex waits for, set aside
    light,            ///< edge dropped by refinement because it was the lightest
    background_sink,  ///< vertex removed: sink that does not limit
    background_knot,  ///< vertex removed: its knot uses less than one CPU and no device
    kept,             ///< refinement undone back to `edge`: it would have left nothing but background
  };
  Reason reason = Reason::noise;
  std::optional<std::uint32_t> edge;  ///< index into the input's edges; for `kept` the first edge put back
  std::optional<VertexId> vertex;
  Nanos weight_ns = 0;  ///< the edge's weight, with that of its requests, or the vertex's busy_ns
};
/// `noise`, `to-pseudo`, `saturated` (always_running), … as in the report.
std::string_view to_string(KnotStep::Reason reason);

struct KnotResult {
  std::vector<Knot> knots;  ///< answers first (heaviest first), then background ones (heaviest first)
  /// Saturated first, then paced, then by busy_ns. A vertex without any edge (but those set aside) is here
  /// only if it is saturated.
  std::vector<KnotSink> sinks;
  /// Something was found and all of it is background: the background knots, if any, are the answer.
  bool only_background = false;
  std::vector<KnotStep> steps;
};

/// 1. Three kinds of edges are set aside: edges to pseudo vertices, edges under the noise floor, and edges
///    from vertices that run all the time. Then the edges of vertices that no target vertex waits for,
///    directly or through others, are set aside (a device waits for nobody in this sense): another program
///    that uses the same disk has its own knots, which are not the target's. If no vertex is a target, all
///    are.
/// 2. The search looks at strong components whose edges lead nowhere else but to vertices removed as
///    background. A sink that is busy for `always_busy` of the window is an answer; any other sink is
///    background. A knot without a device whose cpu_ns sum to less than `always_busy` of the window is
///    background; any other knot is refined.
///    Two more are no background if threads that do the work wait for them heavily: a sink whose paced_ns is
///    `always_busy` of the window is an answer, and a knot whose active_ns sum to it is refined. Heavily
///    means by edges with min_weight_ns or more of weight or gain, directly or through other threads; idle
///    edges of devices do not count.
/// 3. Refinement: while the knot is no single vertex and no simple cycle and has an edge (self-loops
///    included) whose weight and gain are under min_weight_ns, the lightest of them is dropped; once the knot
///    has come apart, 2. is done inside it. If that finds nothing but background, the knot is the answer with
///    all the edges it had before its first one was dropped, and nothing found inside counts.
/// Among edges of equal weight the one with the smaller (from, to, index) goes first, so that the result does
/// not depend on the order of the input.
///
/// Every edge joins two vertices < vertices.size(); parallel edges are allowed. An empty window has no
/// result. O(E log E) in all, however often knots come apart (split.h), and no recursion along the graph.
KnotResult find_knots(const std::vector<KnotVertex>& vertices, const std::vector<KnotEdge>& edges,
                      const KnotOptions& options);

}  // namespace offwait
