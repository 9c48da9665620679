// SPDX-License-Identifier: GPL-2.0-or-later
// Knots and sinks of a weighted wait-for graph, refined (wPerf §3.2–§3.3, design.md §4 "Knots").
// Knows neither waits nor stacks: a graph of numbers in, its inescapable parts out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/nanos.h"

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
  /// Threads: running, ns, summed over the members: what it uses of the CPUs. Devices: 0.
  Nanos cpu_ns = 0;
};

struct KnotEdge {
  VertexId from = 0;
  VertexId to = 0;
  Nanos weight_ns = 0;
};

struct KnotOptions {
  Nanos window_ns = 0;
  Nanos noise_ns = 0;       ///< edges under it are set aside (--noise, default 1 % of the window)
  Nanos min_weight_ns = 0;  ///< refinement drops no edge of this weight or more (--min-weight, default 20 %)
  double saturated = 0.9;   ///< a sink is an answer when busy for at least this fraction of the window
};

/// A strongly connected component without an edge out of it, of two vertices or more, or one with a self-loop.
struct Knot {
  std::vector<VertexId> vertices;    ///< ascending
  std::vector<std::uint32_t> edges;  ///< indices into the input's edges, heaviest first
  bool background = false;           ///< uses little CPU and no device: reported, but not what limits
  Nanos weight_ns = 0;               ///< sum over its edges
};

struct KnotSink {
  VertexId vertex = 0;
  bool saturated = false;  ///< else background
};

/// One step of the search, for --explain, in the order taken.
struct KnotStep {
  enum class Reason : std::uint8_t {
    noise,            ///< edge under the noise floor, set aside
    to_pseudo,        ///< edge to a timer or an interrupt, set aside
    light,            ///< edge dropped by refinement because it was the lightest
    background_sink,  ///< vertex removed: sink that is not saturated
    background_knot,  ///< vertex removed: its knot uses less than one CPU and no device
    kept,             ///< refinement undone from here: it would have left nothing but background
  };
  Reason reason = Reason::noise;
  std::optional<std::uint32_t> edge;  ///< index into the input's edges
  std::optional<VertexId> vertex;
  Nanos weight_ns = 0;  ///< the edge's weight, or the vertex's busy_ns
};

struct KnotResult {
  std::vector<Knot> knots;      ///< answers first (heaviest first), then background ones (heaviest first)
  std::vector<KnotSink> sinks;  ///< saturated first, then by busy_ns
  bool only_background = false; ///< nothing but background was found: the background knots are the answer
  std::vector<KnotStep> steps;
};

/// O(E log E) per refinement; never quadratic in the edges.
KnotResult find_knots(const std::vector<KnotVertex>& vertices, const std::vector<KnotEdge>& edges,
                      const KnotOptions& options);

}  // namespace offwait
